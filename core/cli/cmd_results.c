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
#include "report/table.h"

enum { METRIC = CLI_LONG, ROWS, COLS, SORT, LENGTH, ALL_STEPS, INJECTION };
enum format { TABLE, MARKDOWN, CSV, TEX, JSON, JSONL };

static const char *const format_words[] = {"table", "md", "csv", "tex", "json", "jsonl"};

static const struct cli_option options[] = {
    {'f', "format", "FORMAT", "table (default), md, csv, tex, json or jsonl"},
    {METRIC, "metric", "METRIC", "another metric than the experiment's"},
    {ROWS, "rows", "AXIS", "the axis that stands first"},
    {COLS, "cols", "AXIS,...", "axes that become columns, at one length"},
    {'b', "baseline", "ROW", "compare with axis=label[,axis=label] or a label"},
    {SORT, "sort", "AXIS", "order of rows: an axis, or `metric` for best first"},
    {LENGTH, "length", "N", "length of differences and --cols (default: the first)"},
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
    bool all_steps;
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

static peat_status write_table(const struct results *r, const struct request *q, struct arena *a,
                               struct strbuf *out, struct error *err)
{
    struct table t;
    peat_status status = table_build(&t, r, &q->table, a, err);
    if (status != PEAT_OK)
        return status;
    if (q->format == MARKDOWN)
        format_markdown(&t, out);
    else if (q->format == TEX)
        format_tex(&t, out);
    else
        format_text(&t, line_width(q), use_bold(q), out);
    return PEAT_OK;
}

static peat_status write_results(const struct results *r, const struct request *q, struct arena *a,
                                 struct strbuf *out, struct error *err)
{
    switch (q->format) {
    case CSV:
        return format_csv(r, q->all_steps, out, err);
    case JSON:
        format_json(r, a, out);
        return PEAT_OK;
    case JSONL:
        format_jsonl(r, a, out);
        return PEAT_OK;
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

int cmd_results(int argc, char **argv)
{
    struct cli cli;
    struct request q = {.table = {.length = -1}};
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
    if (q.all_steps && q.format != CSV)
        return cli_mistake(&command, "option '--all-steps' is for --format csv");
    struct arena arena;
    arena_init(&arena, "results", 1 << 20);
    int status = print_results(&q, cli.n_operand, cli.operand, &arena);
    arena_release(&arena);
    return status;
}
