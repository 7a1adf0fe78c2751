/* SPDX-License-Identifier: MIT */
/* cmd_inspect.c: peat inspect SCHEME [key=value ...] --d N --T N, and peat inspect DIR CELL. */

#include "cli/findrun.h"
#include "cli/inspectcell.h"
#include "cli/verbs.h"
#include "experiment/words.h"
#include "inspect/describe.h"
#include "inspect/table_formats.h"
#include "tensor/gemm.h"

enum format { TABLE, CSV, NPY };
enum { LARGEST = 1 << 16, ID_MOST = (1 << 20) - 1 };

static const char *const phase_words[] = {"eval", "train"};
static const char *const format_words[] = {"table", "csv", "npy"};

struct request {
    struct scheme_request scheme;
    int format;
    bool describe, json;
    const char *file; /* NULL: stdout */
    const char *text; /* NULL: --text not given */
    bool start;
};

/* The table to be written, and its name. */
struct shown {
    const struct scheme_table *table;
    const char *name;
};

/* ---- formats ---- */

static void add_description(const struct cli *cli, const struct shown *x)
{
    const struct request *q = cli->options;
    struct value *v;
    if (!q->json) {
        describe_page(q->scheme.team, x->table, x->name, cli->out, cli->arena, cli->err);
    } else if (describe_value(q->scheme.team, x->table, x->name, &v, cli->arena, cli->err) ==
               PEAT_OK) {
        json_print(v, JSON_INDENTED, cli->out);
    }
}

static void add_format(const struct cli *cli, const struct shown *x)
{
    const struct request *q = cli->options;
    if (q->describe)
        add_description(cli, x);
    else if (q->format == CSV)
        scheme_table_csv(x->table, cli->out);
    else if (q->format == NPY)
        scheme_table_npy(x->table, cli->out);
    else
        scheme_table_text(x->table, x->name, cli_width(q->file, 1, INT_MAX), cli->out);
}

/* Without --format the ending of the file's name chooses. */
static void choose_format(struct request *q, bool given)
{
    const char *dot = q->file ? strrchr(q->file, '.') : NULL;
    for (int i = CSV; dot && !given && !q->describe && i <= NPY; i++)
        if (strcmp(dot + 1, format_words[i]) == 0)
            q->format = i;
}

static int check_request(const struct request *q)
{
    bool bytes = q->format == NPY;
    if (q->json && !q->describe)
        return cli_mistake(cmd_inspect.name, "option '--json' is for --describe");
    if (q->describe && q->format != TABLE)
        return cli_mistake(cmd_inspect.name, "option '--describe' prints text: leave --format out");
    if (bytes && !q->file && isatty(STDOUT_FILENO))
        return cli_mistake(cmd_inspect.name,
                           "--format %s is not for a terminal: name a file with -o",
                           format_words[q->format]);
    return CLI_DONE;
}

static int read_tokens(struct cli *cli, const char *list)
{
    struct request *q = cli->options;
    int32_t *token = ARENA_ARRAY(cli->arena, strlen(list) + 1, int32_t);
    int64_t n = 0;
    for (const char *at = list;; at++) {
        char *end;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (end == at || *at < '0' || *at > '9' || (*end && *end != ',') || errno || id > ID_MOST)
            return cli_mistake(cmd_inspect.name,
                               "option '--tokens' must be ids from 0 to %d, as 72,105, not '%s'",
                               ID_MOST, list);
        token[n++] = (int32_t)id;
        at = end;
        if (!*at)
            break;
    }
    q->scheme.token = token;
    q->scheme.n_token = n;
    return CLI_GO_ON;
}

/* Writes the output of `add`, which may use matrix products. */
static int write_with(const struct cli *cli, void (*add)(const struct cli *cli))
{
    struct request *q = cli->options;
    struct team team = {1, NULL};
    choose_format(q, cli_given(cli, "format"));
    int code = check_request(q);
    if (code != CLI_DONE)
        return code;
    parallel_start();
    q->scheme.team = &team;
    if (gemm_start(&team, "auto", cli->err) == PEAT_OK)
        add(cli);
    return cli_output(cli, q->file);
}

/* ---- a scheme ---- */

static void add_scheme(const struct cli *cli)
{
    struct request *q = cli->options;
    struct scheme_table t;
    struct value *given = NULL;
    q->scheme.scheme = cli->operand[0];
    q->scheme.trail = cli->trail;
    if (words_map(cli->arena, cli->n_operand - 1, cli->operand + 1, &given, cli->err) != PEAT_OK)
        return;
    q->scheme.given = given;
    if (scheme_table_make(&t, &q->scheme, cli->arena, cli->err) == PEAT_OK)
        add_format(cli, &(struct shown){&t, q->scheme.scheme});
}

/* The ids of --text are the text's bytes. */
static void read_text(struct request *q, struct arena *a)
{
    int64_t n = (int64_t)strlen(q->text);
    int32_t *token = ARENA_ARRAY(a, n + 1, int32_t);
    for (int64_t i = 0; i < n; i++)
        token[i] = (unsigned char)q->text[i];
    q->scheme.token = token;
    q->scheme.n_token = n;
}

static int inspect_scheme(const struct cli *cli)
{
    struct request *q = cli->options;
    struct scheme_request *s = &q->scheme;
    const struct cli_clash one[] = {
        {"start", true, "option '--start' is for DIR CELL"},
        {"text", s->n_token > 0, "options '--text' and '--tokens' exclude each other"},
        {"step", !s->train, "option '--step' is for --phase train"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    if (q->text)
        read_text(q, cli->arena);
    if (s->n_token && !s->T)
        s->T = s->n_token;
    if (!s->d || !s->T)
        return cli_mistake(cmd_inspect.name,
                           "--d and --T are needed, or --d with --text or --tokens");
    if (s->n_token && s->n_token != s->T)
        return cli_mistake(cmd_inspect.name,
                           "--T is %" PRId64 ", and the number of tokens is %" PRId64
                           ": leave --T out",
                           s->T, s->n_token);
    return write_with(cli, add_scheme);
}

/* ---- a cell ---- */

static void add_open_cell(const struct cli *cli, const struct inspected_cell *c)
{
    const struct request *q = cli->options;
    if (!q->scheme.what && !q->describe && q->format == TABLE) {
        inspected_list(c, cli_width(q->file, 60, INT_MAX), cli->out, cli->arena);
        return;
    }
    const struct cell_table *one = inspected_table(c, q->scheme.what, cli->err);
    if (one)
        add_format(cli, &(struct shown){&one->table, one->name});
}

static void add_cell(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct inspected_cell *c = ARENA_NEW(cli->arena, struct inspected_cell);
    if (inspected_cell_open(c, cli, q->start, q->scheme.team) == PEAT_OK)
        add_open_cell(cli, c);
    inspected_cell_close(c);
}

/* Whether the operands are DIR CELL, where DIR may be named as everywhere else, and not SCHEME
 * key=value. False also when the name is nearly that of a run. */
static bool find_inspected(const struct cli *cli)
{
    if (cli->n_operand != 2 || strchr(cli->operand[1], '='))
        return true;
    const char *dir = run_called(cli->operand[0], cli->arena);
    if (!dir)
        return !nearly_a_run(cli->operand[0], cli->arena, cli->err);
    cli->operand[0] = arena_strdup(cli->arena, dir);
    return true;
}

static int inspect(const struct cli *cli)
{
    if (!find_inspected(cli))
        return CLI_USAGE;
    if (!path_is_directory(cli->operand[0]))
        return inspect_scheme(cli);
    if (cli->n_operand != 2)
        return cli_mistake(cmd_inspect.name, "'%s' is a directory; name one of its cells",
                           cli->operand[0]);
    if (cli_given(cli, "d T heads text tokens phase step rows pad combine"))
        return cli_mistake(cmd_inspect.name, "a cell has sizes and tokens of its own: give it only "
                                             "'--what', '--start', '--format', '--json' or '-o'");
    return write_with(cli, add_cell);
}

static const struct cli_option options[] = {
    CLI_WHOLE('d', "d", "N", 1, LARGEST, scheme.d, "width of the stream and of the model"),
    CLI_WHOLE('T', "T", "N", 1, LARGEST, scheme.T, "positions 0 .. N-1"),
    CLI_WHOLE('H', "heads", "N", 1, LARGEST, scheme.heads, "attention heads (default 1)"),
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "table (default), csv, npy, svg or png; also by the end of -o FILE"),
    CLI_TEXT(0, "what", "NAME", scheme.what,
             "the table to show; for a cell without --what: a list of its tables"),
    CLI_TEXT(0, "text", "TEXT", text, "tokens: the bytes of a text"),
    CLI_OTHER(0, "tokens", "ID,...", read_tokens, "tokens: ids from 0"),
    CLI_WORD(0, "phase", "PHASE", phase_words, scheme.train, "eval (default) or train"),
    CLI_WHOLE(0, "step", "N", 0, INT64_MAX, scheme.step, "training step, with --phase train"),
    CLI_WHOLE(0, "rows", "N", 1, LARGEST, scheme.rows, "rows of the batch, all of the same tokens"),
    CLI_WHOLE(0, "pad", "N", 0, LARGEST, scheme.pad, "places of padding before the tokens"),
    CLI_TEXT(0, "combine", "COMBINE", scheme.combine,
             "what merges the stream (default sum); combine.KEY=value sets it"),
    CLI_FLAG(0, "start", start, "of a cell: as it is before training"),
    CLI_FLAG(0, "describe", describe, "properties of the table instead of its numbers"),
    CLI_FLAG(0, "json", json, "with --describe: an object instead of a page"),
    CLI_TEXT('o', "output", "FILE", file, "write there, whole or not at all"),
};

const struct cli_command cmd_inspect = {
    .name = "peat inspect",
    .summary = "the table of a scheme: its stream, bias or angles",
    CLI_OPERANDS("SCHEME|DIR [key=value ...|CELL]", 1, CLI_MANY, "which scheme?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.scheme.heads = 1),
    .run = inspect,
    .apart = true,
};
