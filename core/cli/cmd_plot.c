/* SPDX-License-Identifier: MIT */
/* cmd_plot.c: peat plot DIR... --kind KIND. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "plot/plot.h"

enum { METRIC = CLI_LONG, LENGTH, COST };

static const char *const format_words[] = {"svg", "pdf", "png"};

static const struct cli_option options[] = {
    {'k', "kind", "KIND", "curves, bars, length, cost or heatmap"},
    {'f', "format", "FORMAT", "svg (default), pdf or png"},
    {METRIC, "metric", "METRIC", "another metric than the experiment's"},
    {LENGTH, "length", "N", "evaluation length (default: the first)"},
    {COST, "cost", "COST", "of --kind cost: time (default), flops, params or memory"},
    {'b', "baseline", "ROW", "compare with axis=label[,axis=label] or a label"},
    {'o', "output", "FILE", "the figure (default: DIR/figures/KIND.FORMAT)"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "plot",
    .usage = "DIR...",
    .about = "Draws the results of run directories by gnuplot, and leaves its script and data\n"
             "beside the figure, to be restyled and run again. curves: the metric by step, or\n"
             "the training loss where nothing was evaluated on the way, with a band of 95 %\n"
             "over seeds; bars: means with intervals, seeds below them; length: the metric by\n"
             "evaluation length; cost: the metric by what it costs; heatmap: the metric by two\n"
             "axes. Prints the name of the figure.",
    .option = options,
    .example = "peat plot runs/sum-vs-concat --kind bars --format pdf -o bars.pdf",
};

struct request {
    int format, kind, cost;
    struct results_options read;
    int64_t length;
    const char *file; /* NULL: beside the results */
};

/* DIR/figures/KIND.FORMAT, whose folder is made. Freed by the caller; NULL: could not be made. */
static char *own_path(const struct request *q, const char *dir, struct error *err)
{
    char name[64], *folder = path_join(dir, "figures"), *path = NULL;
    snprintf(name, sizeof(name), "%s.%s", plot_kind_name[q->kind], format_words[q->format]);
    if (dir_make(folder, err) == PEAT_OK)
        path = path_join(folder, name);
    free(folder);
    return path;
}

/* Only what is drawn has come to nothing when gnuplot fails: the script is there. */
static int save(const struct request *q, const struct figure *f, const char *dir)
{
    struct error err = {0};
    char *own = q->file ? NULL : own_path(q, dir, &err);
    const char *path = own ? own : q->file;
    if (!path)
        return cli_refuse(&err);
    peat_status status = figure_save(f, path, (enum figure_format)q->format, &err);
    if (status == PEAT_OK)
        printf("%s\n", path);
    else
        cli_say("%s", err.text);
    free(own);
    return status == PEAT_OK ? CLI_DONE : status == PEAT_IO ? CLI_USAGE : CLI_FAILED;
}

static int draw(const struct request *q, int n_dir, char *const *dir, struct arena *a)
{
    struct results r;
    struct figure f;
    struct error err = {0};
    const struct plot_options o = {.kind = (enum plot_kind)q->kind,
                                   .cost = (enum plot_cost)q->cost,
                                   .length = q->length,
                                   .asked = q->read.metric != NULL};
    if (results_read(&r, n_dir, dir, &q->read, a, &err) != PEAT_OK)
        return cli_refuse(&err);
    peat_status status = plot_make(&f, &r, &o, a, &err);
    int code = status == PEAT_OK ? save(q, &f, dir[0]) : cli_refuse(&err);
    figure_release(&f);
    return code;
}

/* The name of a file says its format; both must agree. */
static int choose_format(struct request *q, bool given)
{
    int named = q->file ? figure_format_of(q->file) : -1;
    if (named >= 0 && given && named != q->format)
        return cli_mistake(&command, "'%s' does not end in .%s", q->file, format_words[q->format]);
    if (q->file && named < 0)
        return cli_mistake(&command, "'%s' ends in none of .svg, .pdf and .png", q->file);
    q->format = named >= 0 ? named : q->format;
    return CLI_DONE;
}

int cmd_plot(int argc, char **argv)
{
    struct cli cli;
    struct request q = {.kind = PLOT_KINDS, .length = -1};
    bool format_given = false;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        bool good = true;
        switch (letter) {
        case 'k':
            good = cli_word(&cli, plot_kind_name, PLOT_KINDS, &q.kind);
            break;
        case 'f':
            good = format_given = cli_word(&cli, format_words, 3, &q.format);
            break;
        case METRIC:
            q.read.metric = cli.argument;
            break;
        case LENGTH:
            good = cli_whole_number(&cli, 0, INT64_MAX, &q.length);
            break;
        case COST:
            good = cli_word(&cli, plot_cost_name, PLOT_COSTS, &q.cost);
            break;
        case 'b':
            q.read.baseline = cli.argument;
            break;
        case 'o':
            q.file = cli.argument;
            break;
        default:
            good = false;
        }
        if (!good)
            return cli.status;
    }
    if (!cli.n_operand)
        return cli_mistake(&command, "which run directory?");
    if (q.kind == PLOT_KINDS)
        return cli_mistake(&command, "which figure? --kind curves, bars, length, cost or heatmap");
    int status = choose_format(&q, format_given);
    if (status != CLI_DONE)
        return status;
    struct arena arena;
    arena_init(&arena, "plot", 1 << 20);
    status = draw(&q, cli.n_operand, cli.operand, &arena);
    arena_release(&arena);
    return status;
}
