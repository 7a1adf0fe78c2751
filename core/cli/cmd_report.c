/* SPDX-License-Identifier: MIT */
/* cmd_report.c: peat report DIR... -o FILE. */
#include <stdio.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "page/html.h"

enum { METRIC = CLI_LONG, LENGTH, TITLE, TEST };

static const char *const test_words[] = {"sign-flip", "wilcoxon", "t"};

static const struct cli_option options[] = {
    {'o', "output", "FILE", "the page (default: standard output)"},
    {METRIC, "metric", "METRIC", "another metric than the experiment's"},
    {LENGTH, "length", "N", "length that it is about (default: the first)"},
    {'b', "baseline", "ROW", "compare with axis=label[,axis=label] or a label"},
    {TEST, "test", "TEST", "of paired differences: sign-flip (default), wilcoxon or t"},
    {TITLE, "title", "TEXT", "instead of the experiment's name"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "report",
    .usage = "DIR...",
    .about = "Writes the results of run directories as one HTML page that needs no network and\n"
             "no script: what came out in sentences, the table, figures, what each scheme looks\n"
             "like, what acts where, failures, provenance, and how to make it again. Needs\n"
             "neither plugins nor data; without gnuplot figures are left out.",
    .option = options,
    .example = "peat report runs/sum-vs-concat -o report.html",
};

struct request {
    struct results_options read;
    struct html_options page;
    const char *file; /* NULL: stdout */
};

static int write_report(const struct request *q, struct arena *a)
{
    struct results r;
    struct error err = {0};
    struct strbuf out;
    strbuf_init(&out);
    peat_status status = results_read(&r, q->page.n_dir, q->page.dir, &q->read, a, &err);
    if (status == PEAT_OK)
        status = html_report(&r, &q->page, a, &out, &err);
    if (status == PEAT_OK && q->file)
        status = file_write(q->file, out.text, out.n, &err);
    else if (status == PEAT_OK)
        fwrite(out.text, 1, out.n, stdout);
    strbuf_release(&out);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}

int cmd_report(int argc, char **argv)
{
    struct cli cli;
    struct request q = {.page.length = -1};
    int word;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        switch (letter) {
        case 'o':
            q.file = cli.argument;
            break;
        case METRIC:
            q.read.metric = cli.argument;
            break;
        case LENGTH:
            if (!cli_whole_number(&cli, 0, INT64_MAX, &q.page.length))
                return cli.status;
            break;
        case 'b':
            q.read.baseline = cli.argument;
            break;
        case TEST:
            if (!cli_word(&cli, test_words, PAIRED_TESTS, &word))
                return cli.status;
            q.read.test = (enum paired_test)word;
            break;
        case TITLE:
            q.page.head = cli.argument;
            break;
        default:
            return cli.status;
        }
    }
    if (!cli.n_operand)
        return cli_mistake(&command, "which run directory?");
    q.page.n_dir = cli.n_operand;
    q.page.dir = cli.operand;
    struct arena arena;
    arena_init(&arena, "report", 1 << 20);
    int status = write_report(&q, &arena);
    arena_release(&arena);
    return status;
}
