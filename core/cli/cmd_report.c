/* SPDX-License-Identifier: MIT */
/* cmd_report.c: peat report DIR... -o FILE. */
#include "cli/verbs.h"
#include "page/html.h"

struct request {
    struct results_options read;
    struct html_options page;
    bool family;
    const char *file; /* NULL: stdout */
};

/* With --family each directory is a separate run. */
static peat_status judge(const struct cli *cli, const struct results *r, struct claim_history *h)
{
    const struct request *q = cli->options;
    return q->family
               ? claims_of_runs(h, cli->n_operand, cli->operand, &q->read, cli->arena, cli->err)
               : claims_history(h, r, cli->arena, cli->err);
}

static int write_report(const struct cli *cli)
{
    struct request *q = cli->options;
    struct results r;
    struct claim_history claims;
    struct findings found;
    bool no_gnuplot = false;
    q->page.claims = &claims;
    q->page.found = &found;
    if (results_read(&r, cli->n_operand, cli->operand, &q->read, cli->arena, cli->err) == PEAT_OK &&
        judge(cli, &r, &claims) == PEAT_OK) {
        findings_read(&found, &r, cli->arena);
        html_report(&r, &q->page, cli->arena, cli->out, &no_gnuplot, cli->err);
    }
    if (no_gnuplot)
        cli_say("the page has no figures: gnuplot is not installed (Debian: apt-get install "
                "gnuplot-nox)");
    return cli_output(cli, q->file);
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the page (default: standard output)"),
    CLI_TEXT(0, "metric", "METRIC", read.metric, "another metric than the experiment's"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, page.length,
              "length that it is about (default: the first)"),
    CLI_TEXT('b', "baseline", "ROW", read.baseline,
             "compare with axis=label[,axis=label] or a label"),
    CLI_WORD(0, "test", "TEST", paired_test_words, read.test,
             "test of paired differences: sign-flip (default), wilcoxon or t"),
    CLI_TEXT(0, "lines", "AXIS,...", page.lines, "figures: a line for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", page.panels, "figures: a panel for each label of these axes"),
    CLI_FLAG(0, "family", family,
             "each directory's own claims by its own results, Holm over all of them"),
    CLI_TEXT(0, "title", "TEXT", page.head, "instead of the experiment's name"),
};

const struct cli_command cmd_report = {
    .name = "peat report",
    .summary = "the results as one page for a browser",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.page.length = -1),
    .run = write_report,
};
