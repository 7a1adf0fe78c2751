/* SPDX-License-Identifier: MIT */
/* cmd_diagnose.c: peat diagnose DIR CELL, or a pattern of cells. */

#include "cli/diagnosegrid.h"
#include "cli/verbs.h"
#include "diagnose/celldiagnosis.h"
#include "plot/figure.h"
#include "tensor/gemm.h"

enum { BATCHES_MAX = 1024, THREADS_MAX = 1024 };

static const char *const format_words[] = {"table", "csv", "json"};

struct request {
    bool json;
    int64_t threads;
    struct diagnose_grid grid;
};

/* ---- --only ---- */

static int read_only(struct cli *cli, const char *list)
{
    struct diagnose_grid *g = &((struct request *)cli->options)->grid;
    const char *name[DIAGNOSE_ONLY];
    int n = 0;
    for (; diagnostics[n].name; n++)
        name[n] = diagnostics[n].name;
    for (const char *word; (word = list_next(cli->arena, &list, ','));) {
        struct error err = {0};
        error_set(&err, PEAT_INVALID, "there is no diagnostic '%s'; there are ", word);
        error_add_names(&err, word, name, n);
        if (name_index(name, n, word) < 0)
            return cli_mistake(cmd_diagnose.name, "%s", err.text);
        if (g->n_only < DIAGNOSE_ONLY)
            g->only[g->n_only++] = word;
    }
    return CLI_GO_ON;
}

/* ---- one cell ---- */

static int diagnose_open_cell(const struct cli *cli, struct cell_diagnosis *d)
{
    const struct request *q = cli->options;
    struct value *v;
    if (d->changed)
        cli_say("%s since the training of '%s'", d->changed, d->cell->label);
    if (cell_diagnosis_run(d, q->grid.only, q->grid.n_only, &v, cli->err) != PEAT_OK)
        return CLI_FAILED;
    if (!q->json) {
        diagnosis_page(v, cli_width(NULL, 72, 120), cli->out);
        shown_print_lines(stdout, cli->out->text);
    } else {
        print_json(v);
    }
    return q->grid.save && json_write_file(d->cell->dir, "diagnose.json", v, cli->err) != PEAT_OK
               ? CLI_FAILED
               : CLI_DONE;
}

static int diagnose_cell(const struct cli *cli, const struct team *team)
{
    const struct request *q = cli->options;
    const struct cell_files *cell = cli_find_cell(cli);
    struct cell_diagnosis d;
    int status = CLI_USAGE;
    if (!cell)
        return CLI_USAGE;
    if (cell_diagnosis_open(&d, cell, (int)q->grid.batches, team, cli->trail, cli->err) == PEAT_OK)
        status = diagnose_open_cell(cli, &d);
    cell_diagnosis_close(&d);
    return status;
}

/* ---- many cells ---- */

static bool is_glob(const char *cell)
{
    return strpbrk(cell, "*?[") != NULL;
}

static bool has_clashes(const struct cli *cli)
{
    const struct request *q = cli->options;
    const struct diagnose_grid *g = &q->grid;
    bool many = is_glob(cli->operand[1]), figure = g->figure != NULL;
    const struct cli_clash one[] = {
        {"format columns figure over lines panels kept output", !many,
         "options '--format', '--columns', '--figure' and what goes with it, '--kept' and "
         "'--output' are for many cells: give a pattern, as 'learned.*'"},
        {"json", many && cli_given(cli, "format"), "options '--json' and '--format' say the same"},
        {"columns", figure || g->format != DIAGNOSE_TABLE || q->json,
         "option '--columns' is for --format table: csv and json have every measure"},
        {"format json", figure, "option '--figure' draws: leave --format out"},
        {"over lines panels", !figure,
         "options '--over', '--lines' and '--panels' are for --figure"},
        {"lines panels", g->over != NULL,
         "option '--over' has lines of its own: leave --lines and --panels out"},
        {"save batches only threads", g->kept,
         "option '--kept' computes nothing: leave --save, --batches, --only and --threads out"},
        {"figure", !g->file || figure_format_of(g->file) < 0,
         "option '--figure' needs -o FILE, which ends in .svg, .pdf or .png"},
    };
    return CLI_CLASHES(cli, one);
}

static int diagnose_cells(const struct cli *cli)
{
    struct request *q = cli->options;
    struct team team = {.threads = (int)q->threads};
    if (has_clashes(cli))
        return CLI_USAGE;
    parallel_start();
    if (!q->grid.kept && gemm_start(&team, "openblas", cli->err) != PEAT_OK)
        return CLI_USAGE;
    if (!is_glob(cli->operand[1]))
        return diagnose_cell(cli, &team);
    q->grid.format = q->json ? DIAGNOSE_JSON : q->grid.format;
    return diagnose_grid(cli, &q->grid, &team);
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
    CLI_FLAG(0, "save", grid.save,
             "keep the object as diagnose.json in each cell, for 'peat report'"),
    CLI_OTHER(0, "only", "DIAGNOSTIC,...", read_only,
              "logits, sizes, subspaces, support, collisions, probes, order, attention"),
    CLI_WHOLE(0, "batches", "N", 1, BATCHES_MAX, grid.batches,
              "batches of evaluation windows, up to 1024 tokens each (default 4)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, threads,
              "threads (default: 1); the figures are the same"),
    CLI_FLAG(0, "kept", grid.kept, "many cells: read what --save kept and compute nothing"),
    CLI_WORD('f', "format", "FORMAT", format_words, grid.format,
             "many cells: table (default), csv or json"),
    CLI_TEXT(0, "columns", "MEASURE,...", grid.columns,
             "table: only these measures, as angle,position_r2@0"),
    CLI_TEXT(0, "figure", "MEASURE", grid.figure, "draw one measure, as position_r2, into -o FILE"),
    CLI_TEXT(0, "over", "AXIS", grid.over, "figure: the axis along the bottom"),
    CLI_TEXT(0, "lines", "AXIS,...", grid.lines, "figure: a line for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", grid.panels, "figure: a panel for each label of these axes"),
    CLI_TEXT('o', "output", "FILE", grid.file,
             "many cells: write there; a figure's .svg, .pdf, .png"),
};

const struct cli_command cmd_diagnose = {
    .name = "peat diagnose",
    .summary = "how a trained cell uses position",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.grid.batches = 4, .threads = 1),
    .run = diagnose_cells,
    .apart = true,
};
