/* SPDX-License-Identifier: MIT */
/* cmd_plot.c: peat plot DIR... --kind KIND. */

#include "cli/verbs.h"
#include "plot/plot.h"

static const char *const format_words[] = {"svg", "pdf", "png"};

struct request {
    int format, kind, cost;
    struct results_options read;
    int64_t length;
    const char *file; /* NULL: beside the results */
    const char *lines, *panels;
};

/* DIR/figures/KIND.FORMAT; makes the folder. Freed by the caller; NULL: it could not be made. */
static char *own_path(const struct request *q, const char *dir, struct error *err)
{
    char name[64];
    const struct file_path folder = path_in(dir, "figures");
    char *path = NULL;
    snprintf(name, sizeof(name), "%s.%s", plot_kind_name[q->kind], format_words[q->format]);
    if (dir_make(folder.text, err) == PEAT_OK)
        path = path_join(folder.text, name);
    return path;
}

/* CLI_FAILED: gnuplot failed, but script and data are written. CLI_USAGE: nothing was written. */
static int save(const struct cli *cli, const struct figure *f)
{
    const struct request *q = cli->options;
    char *own = q->file ? NULL : own_path(q, cli->operand[0], cli->err);
    const char *path = own ? own : q->file;
    if (!path)
        return CLI_USAGE;
    peat_status status = figure_save(f, path, own ? FILE_OWN : FILE_ANYONES,
                                     (enum figure_format)q->format, cli->err);
    if (status == PEAT_OK)
        cli_print("%s\n", path);
    free(own);
    return status == PEAT_OK ? CLI_DONE : status == PEAT_IO ? CLI_USAGE : CLI_FAILED;
}

/* Checks that the ending of the file's name and --format agree. */
static int choose_format(struct request *q, bool given)
{
    int named = q->file ? figure_format_of(q->file) : -1;
    if (named >= 0 && given && named != q->format)
        return cli_mistake(cmd_plot.name, "'%s' does not end in .%s", q->file,
                           format_words[q->format]);
    if (q->file && named < 0)
        return cli_mistake(cmd_plot.name, "'%s' ends in none of .svg, .pdf and .png", q->file);
    q->format = named >= 0 ? named : q->format;
    return CLI_DONE;
}

static int draw(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct results r;
    struct figure f;
    const struct plot_options o = {.kind = (enum plot_kind)q->kind,
                                   .cost = (enum plot_cost)q->cost,
                                   .length = q->length,
                                   .asked = q->read.metric != NULL,
                                   .lines = q->lines,
                                   .panels = q->panels};
    if (results_read(&r, cli->n_operand, cli->operand, &q->read, cli->arena, cli->err) != PEAT_OK)
        return CLI_USAGE;
    int code = plot_make(&f, &r, &o, cli->arena, cli->err) == PEAT_OK ? save(cli, &f) : CLI_USAGE;
    figure_release(&f);
    return code;
}

static int plot_results(const struct cli *cli)
{
    struct request *q = cli->options;
    const struct cli_clash one[] = {
        {NULL, q->kind == PLOT_KINDS,
         "which figure? --kind curves, bars, length, cost, heatmap or forest"},
        {"lines panels", q->kind == PLOT_BARS || q->kind == PLOT_FOREST,
         "options '--lines' and '--panels' are for --kind curves, length, cost or heatmap"},
        {"cost", q->kind != PLOT_COST, "option '--cost' is for --kind cost"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    int code = choose_format(q, cli_given(cli, "format"));
    return code == CLI_DONE ? draw(cli) : code;
}

static const struct cli_option options[] = {
    CLI_WORD('k', "kind", "KIND", plot_kind_name, kind,
             "curves, bars, length, cost, heatmap or forest"),
    CLI_WORD('f', "format", "FORMAT", format_words, format, "svg (default), pdf or png"),
    CLI_TEXT(0, "metric", "METRIC", read.metric, "another metric than the experiment's"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, length, "evaluation length (default: the first)"),
    CLI_WORD(0, "cost", "COST", plot_cost_name, cost,
             "--kind cost: time (default), flops, params or memory"),
    CLI_TEXT(0, "lines", "AXIS,...", lines,
             "a line (cost: a colour, heatmap: a row) for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", panels,
             "a panel (cost: a shape, heatmap: a column) for each label of these axes"),
    CLI_TEXT('b', "baseline", "ROW", read.baseline,
             "compare with axis=label[,axis=label] or a label"),
    CLI_TEXT('o', "output", "FILE", file, "the figure (default: DIR/figures/KIND.FORMAT)"),
};

const struct cli_command cmd_plot = {
    .name = "peat plot",
    .summary = "figures of the results, by gnuplot",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.kind = PLOT_KINDS, .length = -1),
    .run = plot_results,
};
