/* SPDX-License-Identifier: MIT */
/* cmd_report.c: peat report DIR... -o FILE, by python/peat/report. */
#include "cli/pythonverb.h"
#include "cli/verbs.h"
#include "report/results.h"

struct request {
    const char *file, *metric, *baseline, *lines, *panels, *title;
    int64_t length;
    int test;
    bool family;
};

static int write_report(const struct cli *cli)
{
    return python_verb(cli, "report.verb", python_request(cli, NULL));
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the page (default: standard output)"),
    CLI_TEXT(0, "metric", "METRIC", metric, "another metric than the experiment's"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, length,
              "length that it is about (default: the first)"),
    CLI_TEXT('b', "baseline", "ROW", baseline, "compare with axis=label[,axis=label] or a label"),
    CLI_WORD(0, "test", "TEST", paired_test_words, test,
             "test of paired differences: sign-flip (default), wilcoxon or t"),
    CLI_TEXT(0, "lines", "AXIS,...", lines, "figures: a line for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", panels, "figures: a panel for each label of these axes"),
    CLI_FLAG(0, "family", family,
             "each directory's own claims by its own results, Holm over all of them"),
    CLI_TEXT(0, "title", "TEXT", title, "instead of the experiment's name"),
};

const struct cli_command cmd_report = {
    .name = "peat report",
    .summary = "the results as one page for a browser",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    .run = write_report,
};
