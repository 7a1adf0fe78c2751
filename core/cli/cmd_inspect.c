/* SPDX-License-Identifier: MIT */
/* cmd_inspect.c: peat inspect SCHEME [key=value ...] --d N --T N, and peat inspect DIR [CELL]:
 * python/peat/inspect. */

#include "cli/findrun.h"
#include "cli/pythonverb.h"
#include "cli/verbs.h"
#include "experiment/words.h"
#include "grid/rundir.h"

enum format { TABLE, CSV, NPY, SVG, PNG };
enum { LARGEST = 1 << 16, ID_MOST = (1 << 20) - 1 };

static const char *const phase_words[] = {"eval", "train"};
static const char *const format_words[] = {"table", "csv", "npy", "svg", "png"};

struct request {
    int64_t d, T, heads, step, rows, pad;
    int format, phase;
    bool describe, json, start;
    const char *file; /* NULL: stdout */
    const char *text; /* NULL: --text not given */
    const char *what, *combine;
    int64_t n_token;
    struct value *token; /* list of --tokens; NULL: not given */
};

/* ---- formats ---- */

/* Without --format the ending of the file's name chooses. */
static void choose_format(struct request *q, bool given)
{
    const char *dot = q->file ? strrchr(q->file, '.') : NULL;
    for (int i = CSV; dot && !given && !q->describe && i <= PNG; i++)
        if (strcmp(dot + 1, format_words[i]) == 0)
            q->format = i;
}

static int check_request(const struct request *q)
{
    bool bytes = q->format == NPY || q->format == PNG;
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
    struct json token = json_list(cli->arena);
    for (const char *at = list;; at++) {
        char *end;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (end == at || *at < '0' || *at > '9' || (*end && *end != ',') || errno || id > ID_MOST)
            return cli_mistake(cmd_inspect.name,
                               "option '--tokens' must be ids from 0 to %d, as 72,105, not '%s'",
                               ID_MOST, list);
        json_add_int(token, id);
        at = end;
        if (!*at)
            break;
    }
    q->token = token.v;
    q->n_token = token.v->n;
    return CLI_GO_ON;
}

/* ---- a scheme ---- */

/* The ids of --text are the text's bytes. */
static void read_text(struct request *q, struct arena *a)
{
    struct json token = json_list(a);
    for (const char *at = q->text; *at; at++)
        json_add_int(token, (unsigned char)*at);
    q->token = token.v;
    q->n_token = token.v->n;
}

static int ask(const struct cli *cli, struct json request)
{
    struct request *q = cli->options;
    choose_format(q, cli_given(cli, "format"));
    int code = check_request(q);
    if (code != CLI_DONE)
        return code;
    json_put_text(request, "format", format_words[q->format]);
    json_put_int(request, "columns", cli_width(q->file, 60, INT_MAX));
    return python_verb(cli, "inspect.verb", request);
}

static int inspect_scheme(const struct cli *cli)
{
    struct request *q = cli->options;
    struct value *given = NULL;
    const struct cli_clash one[] = {
        {"start", true, "option '--start' is for DIR CELL"},
        {"text", q->n_token > 0, "options '--text' and '--tokens' exclude each other"},
        {"step", q->phase == 0, "option '--step' is for --phase train"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    if (q->text)
        read_text(q, cli->arena);
    if (q->n_token && !q->T)
        q->T = q->n_token;
    if (!q->d || !q->T)
        return cli_mistake(cmd_inspect.name,
                           "--d and --T are needed, or --d with --text or --tokens");
    if (q->n_token && q->n_token != q->T)
        return cli_mistake(cmd_inspect.name,
                           "--T is %" PRId64 ", and the number of tokens is %" PRId64
                           ": leave --T out",
                           q->T, q->n_token);
    if (words_map(cli->arena, cli->n_operand - 1, cli->operand + 1, &given, cli->err) != PEAT_OK)
        return CLI_USAGE;
    struct json request = python_request(cli, q->file);
    json_put_int(request, "T", q->T);
    json_put(request, "token", q->token);
    json_put(request, "given", given);
    return ask(cli, request);
}

/* ---- a cell ---- */

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

/* Keeps the drawings of a run directory's schemes for `peat report`, which runs no plugin. */
static int draw_schemes(const struct cli *cli)
{
    const char *dir = run_called(cli->operand[0], cli->arena);
    for (int i = 0; i < cli->command->n_option; i++)
        if (cli->given[i])
            return cli_mistake(cmd_inspect.name,
                               "'%s' is a directory; name one of its cells, or leave options out",
                               cli->operand[0]);
    if (!dir)
        return cli_mistake(cmd_inspect.name, "'%s' is not a run directory", cli->operand[0]);
    struct json request = python_request(cli, NULL);
    json_put_text(request, "draw", dir);
    return python_verb(cli, "inspect.verb", request);
}

static int inspect(const struct cli *cli)
{
    const struct request *q = cli->options;
    if (!find_inspected(cli))
        return CLI_USAGE;
    if (!path_is_directory(cli->operand[0]))
        return inspect_scheme(cli);
    if (cli->n_operand == 1)
        return draw_schemes(cli);
    if (cli->n_operand != 2)
        return cli_mistake(cmd_inspect.name, "'%s' is a directory; name one of its cells",
                           cli->operand[0]);
    if (cli_given(cli, "d T heads text tokens phase step rows pad combine"))
        return cli_mistake(cmd_inspect.name, "a cell has sizes and tokens of its own: give it only "
                                             "'--what', '--start', '--format', '--json' or '-o'");
    const struct cell_files *cell = cli_find_cell(cli);
    if (!cell)
        return CLI_USAGE;
    struct json request = python_request(cli, q->file);
    json_put_text(request, "folder", cell->dir);
    return ask(cli, request);
}

static const struct cli_option options[] = {
    CLI_WHOLE('d', "d", "N", 1, LARGEST, d, "width of the stream and of the model"),
    CLI_WHOLE('T', "T", "N", 1, LARGEST, T, "positions 0 .. N-1"),
    CLI_WHOLE('H', "heads", "N", 1, LARGEST, heads, "attention heads (default 1)"),
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "table (default), csv, npy, svg or png; also by the end of -o FILE"),
    CLI_TEXT(0, "what", "NAME", what,
             "the table to show; for a cell without --what: a list of its tables"),
    CLI_TEXT(0, "text", "TEXT", text, "tokens: the bytes of a text"),
    CLI_OTHER(0, "tokens", "ID,...", read_tokens, "tokens: ids from 0"),
    CLI_WORD(0, "phase", "PHASE", phase_words, phase, "eval (default) or train"),
    CLI_WHOLE(0, "step", "N", 0, INT64_MAX, step, "training step, with --phase train"),
    CLI_WHOLE(0, "rows", "N", 1, LARGEST, rows, "rows of the batch, all of the same tokens"),
    CLI_WHOLE(0, "pad", "N", 0, LARGEST, pad, "places of padding before the tokens"),
    CLI_TEXT(0, "combine", "COMBINE", combine,
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
    CLI_DEFAULTS(.heads = 1),
    .run = inspect,
};
