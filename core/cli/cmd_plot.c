/* SPDX-License-Identifier: MIT */
/* cmd_plot.c: peat plot DIR... --kind KIND, by python/peat/plot. */
#include "cli/pythonverb.h"
#include "cli/verbs.h"

enum kind { CURVES, BARS, LENGTH, COST, HEATMAP, FOREST, KINDS };

static const char *const format_words[] = {"svg", "pdf", "png"};
static const char *const kind_words[] = {"curves", "bars", "length", "cost", "heatmap", "forest"};
static const char *const cost_words[] = {"time", "flops", "params", "memory"};
static const char *const size_words[] = {"column", "page"};

struct request {
    int format, kind, cost, size;
    int64_t length;
    const char *file; /* NULL: DIR/figures/KIND.FORMAT */
    const char *metric, *baseline, *lines, *panels;
};

/* Checks that the ending of the file's name and --format agree. */
static int check_format(const struct request *q, bool given)
{
    const char *end = q->file ? strrchr(q->file, '.') : NULL;
    int named = end ? name_index(format_words, 3, end + 1) : -1;
    if (named >= 0 && given && named != q->format)
        return cli_mistake(cmd_plot.name, "'%s' does not end in .%s", q->file,
                           format_words[q->format]);
    if (q->file && named < 0)
        return cli_mistake(cmd_plot.name, "'%s' ends in none of .svg, .pdf and .png", q->file);
    return CLI_DONE;
}

static int plot_results(const struct cli *cli)
{
    const struct request *q = cli->options;
    const struct cli_clash one[] = {
        {NULL, q->kind == KINDS,
         "which figure? --kind curves, bars, length, cost, heatmap or forest"},
        {"lines panels", q->kind == BARS || q->kind == FOREST,
         "options '--lines' and '--panels' are for --kind curves, length, cost or heatmap"},
        {"cost", q->kind != COST, "option '--cost' is for --kind cost"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    int code = check_format(q, cli_given(cli, "format"));
    return code == CLI_DONE ? python_verb(cli, "plot.verb", python_request(cli, NULL)) : code;
}

static const struct cli_option options[] = {
    CLI_WORD('k', "kind", "KIND", kind_words, kind,
             "curves, bars, length, cost, heatmap or forest"),
    CLI_WORD('f', "format", "FORMAT", format_words, format, "svg (default), pdf or png"),
    CLI_WORD(0, "size", "SIZE", size_words, size,
             "page (default: 6.75 inches) or column (3.25) of a paper"),
    CLI_TEXT(0, "metric", "METRIC", metric, "another metric than the experiment's"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, length, "evaluation length (default: the first)"),
    CLI_WORD(0, "cost", "COST", cost_words, cost,
             "--kind cost: time (default), flops, params or memory"),
    CLI_TEXT(0, "lines", "AXIS,...", lines,
             "a line (cost: a colour, heatmap: a row) for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", panels,
             "a panel (cost: a shape, heatmap: a column) for each label of these axes"),
    CLI_TEXT('b', "baseline", "ROW", baseline, "compare with axis=label[,axis=label] or a label"),
    CLI_TEXT('o', "output", "FILE", file, "the figure (default: DIR/figures/KIND.FORMAT)"),
};

const struct cli_command cmd_plot = {
    .name = "peat plot",
    .summary = "figures of the results, as SVG, PDF or PNG",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.kind = KINDS),
    .run = plot_results,
};
