/* SPDX-License-Identifier: MIT */
/* cmd_diagnose.c: peat diagnose DIR CELL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/verbs.h"
#include "diagnose/celldiagnosis.h"
#include "tensor/gemm.h"

enum { ONLY_MAX = 16, BATCHES_MAX = 1024, THREADS_MAX = 1024 };

struct request {
    bool json, save;
    int64_t batches, threads;
    int n_only;
    const char *only[ONLY_MAX];
};

/* ---- --only ---- */

static int unknown_name(const char *word)
{
    const char *name[ONLY_MAX];
    struct strbuf all;
    int n = 0;
    strbuf_init(&all);
    for (; diagnostics[n].name; n++) {
        name[n] = diagnostics[n].name;
        strbuf_addf(&all, "%s%s", n ? ", " : "", name[n]);
    }
    const char *near = nearest_name(word, name, n);
    int status =
        cli_mistake(cmd_diagnose.name, "there is no diagnostic '%s'%s%s%s; there are %s", word,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", all.text);
    strbuf_release(&all);
    return status;
}

static bool is_diagnostic(const char *word)
{
    for (const struct diagnostic *d = diagnostics; d->name; d++)
        if (!strcmp(d->name, word))
            return true;
    return false;
}

/* Cuts the list at its commas. */
static int read_only(struct cli *cli, const char *list)
{
    struct request *q = cli->options;
    char *rest = arena_strdup(cli->arena, list);
    for (char *word; (word = strsep(&rest, ","));) {
        if (!is_diagnostic(word))
            return unknown_name(word);
        if (q->n_only < ONLY_MAX)
            q->only[q->n_only++] = word;
    }
    return CLI_GO_ON;
}

/* ---- one cell ---- */

static void print(const struct request *q, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out);
    if (q->json) {
        json_print(v, JSON_INDENTED, &out);
        strbuf_add(&out, "\n");
    } else {
        diagnosis_page(v, cli_width(NULL, 72, 120), &out);
    }
    cli_print("%s", out.text);
    strbuf_release(&out);
}

static int diagnose_open_cell(const struct request *q, struct cell_diagnosis *d)
{
    struct value *v;
    struct error err = {0};
    if (d->changed)
        cli_say("%s since the training of '%s'", d->changed, d->cell->label);
    if (cell_diagnosis_run(d, q->only, q->n_only, &v, &err) != PEAT_OK) {
        cli_say("%s", err.text);
        return CLI_FAILED;
    }
    print(q, v);
    if (!q->save || json_write_file(d->cell->dir, "diagnose.json", v, &err) == PEAT_OK)
        return CLI_DONE;
    cli_say("%s", err.text);
    return CLI_FAILED;
}

static int diagnose_cell(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct rundir r;
    struct error err = {0};
    struct cell_diagnosis d;
    struct team team = {.threads = (int)q->threads};
    int index;
    parallel_start();
    if (gemm_start(&team, "openblas", &err) != PEAT_OK ||
        rundir_read(cli->operand[0], &r, cli->arena, &err) != PEAT_OK ||
        rundir_find(&r, cli->operand[1], &index, &err) != PEAT_OK)
        return cli_refuse(&err);
    int status = CLI_USAGE;
    if (cell_diagnosis_open(&d, &r.cell[index], (int)q->batches, &team, &err) == PEAT_OK)
        status = diagnose_open_cell(q, &d);
    else
        cli_refuse(&err);
    cell_diagnosis_close(&d);
    return status;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
    CLI_FLAG(0, "save", save, "keep the object as diagnose.json in the cell, for 'peat report'"),
    CLI_OTHER(0, "only", "NAME,...", read_only,
              "logits, subspaces, support, collisions, probes, order, attention"),
    CLI_WHOLE(0, "batches", "N", 1, BATCHES_MAX, batches,
              "batches of evaluation windows, up to 1024 tokens each (default 4)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, threads,
              "threads (default: 1); the figures are the same"),
};

const struct cli_command cmd_diagnose = {
    .name = "peat diagnose",
    .summary = "what a trained cell has learned about position",
    .about = "Looks inside a trained cell: of which pairs of streams the attention logits are\n"
             "made, whether tokens and positions keep apart in subspaces and dimensions, which\n"
             "sums collide, what linear probes find after every block, how much the order of\n"
             "the tokens matters, and where the heads look. It runs the trained weights on the\n"
             "first windows of the cell's first evaluation length, so it needs the cell's\n"
             "plugins and data; data that have changed since are refused. CELL is an index, a\n"
             "label or the start of a hash. docs/diagnostics.md explains every figure.",
    .example = "peat diagnose runs/sum-vs-concat learned.sum.s0\n"
               "peat diagnose runs/sum-vs-concat 3 --only logits,order --json",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.batches = 4, .threads = 1),
    .run = diagnose_cell,
    .apart = true,
};
