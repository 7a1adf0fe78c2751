/* SPDX-License-Identifier: MIT */
/* cmd_results.c: peat results DIR... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "report/ranking.h"

enum {
    METRIC = CLI_LONG,
    ROWS,
    COLS,
    SORT,
    LENGTH,
    COLUMNS,
    SPREAD,
    PRECISION,
    ONLY_CHANGED,
    TEST,
    RANKS,
    ALL_STEPS,
    INJECTION
};
enum format { TABLE, MARKDOWN, CSV, TEX, JSON, JSONL };

static const char *const format_words[] = {"table", "md", "csv", "tex", "json", "jsonl"};
static const char *const spread_words[] = {"ci", "sd", "se"};
static const char *const test_words[] = {"sign-flip", "wilcoxon", "t"};

static const struct cli_option options[] = {
    {'f', "format", "FORMAT", "table (default), md, csv, tex, json or jsonl"},
    {METRIC, "metric", "METRIC", "another metric than the experiment's"},
    {ROWS, "rows", "AXIS", "the axis that stands first"},
    {COLS, "cols", "AXIS,...", "axes that become columns, at one length"},
    {'b', "baseline", "ROW", "compare with axis=label[,axis=label] or a label"},
    {SORT, "sort", "AXIS", "order of rows: an axis, or `metric` for best first"},
    {LENGTH, "length", "N", "length of differences and --cols (default: the first)"},
    {COLUMNS, "columns", "NAME,...",
     "only these, as metric,diff,p_holm,g_z,n,params; csv: its own"},
    {SPREAD, "err", "WHAT", "behind a mean: ci (95 % interval, default), sd or se"},
    {PRECISION, "precision", "N", "significant digits of what stands behind a mean (default 2)"},
    {ONLY_CHANGED, "only-changed", NULL, "leave out labels and costs that never differ"},
    {TEST, "test", "TEST", "of paired differences: sign-flip (default), wilcoxon or t"},
    {RANKS, "ranks", NULL, "rank methods over tasks: Friedman's test, critical difference"},
    {ALL_STEPS, "all-steps", NULL, "csv: every evaluation instead of the last"},
    {INJECTION, "injection", NULL, "say what acts where in each row"},
    {'o', "output", "FILE", "write there, whole or not at all"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "results",
    .usage = "DIR...",
    .about = "Prints the results of run directories: a row for each setting, the mean over seeds\n"
             "with a 95 % interval, differences to the baseline paired by seed, and what it cost.\n"
             "Needs neither plugins nor data. csv is tidy: a line per cell, metric, split and\n"
             "length.",
    .option = options,
    .example = "peat results runs/sum-vs-concat --cols combine",
};

struct request {
    int format;
    struct results_options read;
    struct table_options table;
    bool all_steps, ranks, err_given, test_given;
    const char *file; /* NULL: stdout */
};

static bool use_bold(const struct request *q)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return !q->file && isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

static int line_width(const struct request *q)
{
    enum { DEFAULT = 100, NARROWEST = 60 };
    struct winsize size;
    if (q->file || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

static void write_formatted(const struct table *t, const struct request *q, struct strbuf *out)
{
    if (q->format == MARKDOWN)
        format_markdown(t, out);
    else if (q->format == TEX)
        format_tex(t, out);
    else
        format_text(t, line_width(q), use_bold(q), out);
}

static peat_status write_table(const struct results *r, const struct request *q, struct arena *a,
                               struct strbuf *out, struct error *err)
{
    struct table t;
    peat_status status = table_build(&t, r, &q->table, a, err);
    if (status == PEAT_OK)
        write_formatted(&t, q, out);
    return status;
}

static peat_status write_csv(const struct results *r, const struct request *q, struct strbuf *out,
                             struct error *err)
{
    peat_status status = format_csv(r, q->all_steps, out, err);
    if (status == PEAT_OK && (q->table.columns || q->table.only_changed))
        status = csv_select(out, q->table.columns, q->table.only_changed, err);
    return status;
}

static peat_status write_json(const struct results *r, const struct request *q, struct arena *a,
                              struct strbuf *out, struct error *err)
{
    const int *order;
    peat_status status = table_order(r, &q->table, a, &order, err);
    if (status == PEAT_OK && q->format == JSON)
        format_json(r, order, a, out);
    else if (status == PEAT_OK)
        format_jsonl(r, order, a, out);
    return status;
}

static peat_status write_ranks(const struct results *r, const struct request *q, struct arena *a,
                               struct strbuf *out, struct error *err)
{
    struct ranking k;
    struct table t;
    peat_status status = ranking_make(&k, r, q->table.length, a, err);
    if (status != PEAT_OK)
        return status;
    if (q->format == JSON) {
        ranking_json(&k, a, out);
        return PEAT_OK;
    }
    ranking_table(&k, a, &t);
    write_formatted(&t, q, out);
    return PEAT_OK;
}

static peat_status write_results(const struct results *r, const struct request *q, struct arena *a,
                                 struct strbuf *out, struct error *err)
{
    if (q->ranks)
        return write_ranks(r, q, a, out, err);
    switch (q->format) {
    case CSV:
        return write_csv(r, q, out, err);
    case JSON:
    case JSONL:
        return write_json(r, q, a, out, err);
    default:
        return write_table(r, q, a, out, err);
    }
}

static int print_results(const struct request *q, int n_dir, char *const *dir, struct arena *a)
{
    struct results r;
    struct error err = {0};
    struct strbuf out;
    strbuf_init(&out);
    peat_status status = results_read(&r, n_dir, dir, &q->read, a, &err);
    if (status == PEAT_OK)
        status = write_results(&r, q, a, &out, &err);
    if (status == PEAT_OK && q->file)
        status = file_write(q->file, out.text, out.n, &err);
    else if (status == PEAT_OK)
        fwrite(out.text, 1, out.n, stdout);
    strbuf_release(&out);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}

/* An option that would have no effect is a mistake. */
static const char *what_clashes(const struct request *q)
{
    const struct table_options *o = &q->table;
    bool is_table = q->format == TABLE || q->format == MARKDOWN || q->format == TEX;
    bool is_json = q->format == JSON || q->format == JSONL;
    const struct {
        bool clash;
        const char *why;
    } one[] = {
        {q->all_steps && q->format != CSV, "option '--all-steps' is for --format csv"},
        {q->ranks && (q->format == CSV || q->format == JSONL),
         "option '--ranks' is for --format table, md, tex or json"},
        {q->ranks && (o->columns || o->cols || o->rows || o->sort || o->only_changed ||
                      o->injection || q->err_given || o->digits),
         "option '--ranks' makes a table of its own: no options on columns and rows go with it"},
        {o->columns && o->cols, "options '--columns' and '--cols' do not go together"},
        {o->columns && is_json, "option '--columns' is for --format table, md, tex or csv"},
        {o->only_changed && is_json,
         "option '--only-changed' is for --format table, md, tex or csv"},
        {o->cols && !is_table, "option '--cols' is for --format table, md or tex"},
        {(q->err_given || o->digits) && !is_table,
         "options '--err' and '--precision' are for --format table, md or tex: the others have "
         "every number in full"},
        {q->format == CSV && (q->read.baseline || q->test_given || o->length >= 0),
         "options '--baseline', '--test' and '--length' are not for --format csv: it compares "
         "nothing, and has every length"},
        {(o->sort || o->rows) && q->format == CSV,
         "options '--sort' and '--rows' are not for --format csv, which has a line for each cell"},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        if (one[i].clash)
            return one[i].why;
    return NULL;
}

int cmd_results(int argc, char **argv)
{
    struct cli cli;
    struct request q = {.table = {.length = -1}};
    int64_t number;
    int word;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        switch (letter) {
        case 'f':
            if (!cli_word(&cli, format_words, 6, &q.format))
                return cli.status;
            break;
        case METRIC:
            q.read.metric = cli.argument;
            break;
        case ROWS:
            q.table.rows = cli.argument;
            break;
        case COLS:
            q.table.cols = cli.argument;
            break;
        case 'b':
            q.read.baseline = cli.argument;
            break;
        case SORT:
            q.table.sort = cli.argument;
            break;
        case LENGTH:
            if (!cli_whole_number(&cli, 0, INT64_MAX, &q.table.length))
                return cli.status;
            break;
        case COLUMNS:
            q.table.columns = cli.argument;
            break;
        case SPREAD:
            if (!cli_word(&cli, spread_words, 3, &word))
                return cli.status;
            q.table.err = (enum spread)word;
            q.err_given = true;
            break;
        case PRECISION:
            if (!cli_whole_number(&cli, 1, 15, &number))
                return cli.status;
            q.table.digits = (int)number;
            break;
        case ONLY_CHANGED:
            q.table.only_changed = true;
            break;
        case TEST:
            if (!cli_word(&cli, test_words, PAIRED_TESTS, &word))
                return cli.status;
            q.read.test = (enum paired_test)word;
            q.test_given = true;
            break;
        case RANKS:
            q.ranks = true;
            break;
        case ALL_STEPS:
            q.all_steps = true;
            break;
        case INJECTION:
            q.table.injection = true;
            break;
        case 'o':
            q.file = cli.argument;
            break;
        default:
            return cli.status;
        }
    }
    if (!cli.n_operand)
        return cli_mistake(&command, "which run directory?");
    const char *why = what_clashes(&q);
    if (why)
        return cli_mistake(&command, "%s", why);
    struct arena arena;
    arena_init(&arena, "results", 1 << 20);
    int status = print_results(&q, cli.n_operand, cli.operand, &arena);
    arena_release(&arena);
    return status;
}
