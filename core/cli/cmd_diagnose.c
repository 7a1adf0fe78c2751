/* SPDX-License-Identifier: MIT */
/* cmd_diagnose.c: peat diagnose DIR CELL, or a pattern of cells: python/peat/diagnose. */

#include "cli/pythonverb.h"
#include "cli/verbs.h"
#include "experiment/experiment.h"
#include "grid/rundir.h"

enum { BATCHES_MAX = 1024, THREADS_MAX = 1024 };

static const char *const format_words[] = {"table", "csv", "json"};
const char *const diagnostic_words[DIAGNOSTICS] = {
    "logits", "sizes", "subspaces", "support", "collisions", "probes", "order", "attention"};

struct request {
    bool json, save, kept;
    int format;
    int64_t batches, threads;
    const char *only, *columns, *figure, *over, *lines, *panels, *file;
};

static bool only_is_known(const struct cli *cli)
{
    const struct request *q = cli->options;
    const char *list = q->only;
    for (const char *word; list && (word = list_next(cli->arena, &list, ','));) {
        struct error err = {0};
        if (name_index(diagnostic_words, DIAGNOSTICS, word) >= 0)
            continue;
        error_set(&err, PEAT_INVALID, "there is no diagnostic '%s'; there are ", word);
        error_add_names(&err, word, diagnostic_words, DIAGNOSTICS);
        cli_mistake(cmd_diagnose.name, "%s", err.text);
        return false;
    }
    return true;
}

static bool is_glob(const char *cell)
{
    return strpbrk(cell, "*?[") != NULL;
}

static bool is_figure(const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    return dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".pdf") || !strcmp(dot, ".png"));
}

static bool has_clashes(const struct cli *cli)
{
    const struct request *q = cli->options;
    bool many = is_glob(cli->operand[1]), figure = q->figure != NULL;
    const struct cli_clash one[] = {
        {"format columns figure over lines panels kept output", !many,
         "options '--format', '--columns', '--figure' and what goes with it, '--kept' and "
         "'--output' are for many cells: give a pattern, as 'learned.*'"},
        {"json", many && cli_given(cli, "format"), "options '--json' and '--format' say the same"},
        {"columns", figure || q->format != 0 || q->json,
         "option '--columns' is for --format table: csv and json have every measure"},
        {"format json", figure, "option '--figure' draws: leave --format out"},
        {"over lines panels", !figure,
         "options '--over', '--lines' and '--panels' are for --figure"},
        {"lines panels", q->over != NULL,
         "option '--over' has lines of its own: leave --lines and --panels out"},
        {"save batches only threads", q->kept,
         "option '--kept' computes nothing: leave --save, --batches, --only and --threads out"},
        {"figure", !is_figure(q->file),
         "option '--figure' needs -o FILE, which ends in .svg, .pdf or .png"},
    };
    return CLI_CLASHES(cli, one);
}

/* Adds the ids of the cells that the pattern fits. */
static bool put_cells(const struct cli *cli, struct json request)
{
    struct rundir r;
    struct json ids = json_put_list(request, "cells");
    if (rundir_read(cli->operand[0], &r, cli->arena, cli->err) != PEAT_OK)
        return false;
    for (int i = 0; i < r.n; i++)
        if (r.cell[i].planned && cell_fits(cli->operand[1], r.cell[i].label, r.cell[i].id))
            json_add_text(ids, r.cell[i].id);
    return ids.v->n > 0 ||
           error_fail(cli->err, PEAT_INVALID,
                      "no cell of '%s' matches '%s'; one of its %d cells is '%s'", cli->operand[0],
                      cli->operand[1], r.n, r.n ? r.cell[0].label : "");
}

static int diagnose(const struct cli *cli)
{
    const struct request *q = cli->options;
    if (has_clashes(cli) || !only_is_known(cli))
        return CLI_USAGE;
    struct json request = python_request(cli, q->file);
    if (is_glob(cli->operand[1])) {
        if (!put_cells(cli, request))
            return CLI_USAGE;
    } else {
        const struct cell_files *cell = cli_find_cell(cli);
        if (!cell)
            return CLI_USAGE;
        json_put_text(request, "folder", cell->dir);
    }
    return python_verb(cli, "diagnose.verb", request);
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
    CLI_FLAG(0, "save", save, "keep the object as diagnose.json in each cell, for 'peat report'"),
    CLI_TEXT(0, "only", "DIAGNOSTIC,...", only,
             "logits, sizes, subspaces, support, collisions, probes, order, attention"),
    CLI_WHOLE(0, "batches", "N", 1, BATCHES_MAX, batches,
              "batches of evaluation windows, up to 1024 tokens each (default 4)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, threads,
              "threads (default: 1); the figures are the same"),
    CLI_FLAG(0, "kept", kept, "many cells: read what --save kept and compute nothing"),
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "many cells: table (default), csv or json"),
    CLI_TEXT(0, "columns", "MEASURE,...", columns,
             "table: only these measures, as angle,position_r2@0"),
    CLI_TEXT(0, "figure", "MEASURE", figure, "draw one measure, as position_r2, into -o FILE"),
    CLI_TEXT(0, "over", "AXIS", over, "figure: the axis along the bottom"),
    CLI_TEXT(0, "lines", "AXIS,...", lines, "figure: a line for each label of these axes"),
    CLI_TEXT(0, "panels", "AXIS,...", panels, "figure: a panel for each label of these axes"),
    CLI_TEXT('o', "output", "FILE", file, "many cells: write there; a figure's .svg, .pdf, .png"),
};

const struct cli_command cmd_diagnose = {
    .name = "peat diagnose",
    .summary = "how a trained cell uses position",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    .run = diagnose,
};
