/* SPDX-License-Identifier: MIT */
/* cmd_diagnose.c: peat diagnose DIR CELL. */

#include "cli/verbs.h"
#include "diagnose/celldiagnosis.h"
#include "tensor/gemm.h"

enum { BATCHES_MAX = 1024, THREADS_MAX = 1024, DIAGNOSE_ONLY = 16 };

struct request {
    bool json, save;
    int64_t batches, threads;
    int n_only;
    const char *only[DIAGNOSE_ONLY]; /* names of diagnostics; without any: all */
};

/* ---- --only ---- */

static int read_only(struct cli *cli, const char *list)
{
    struct request *g = cli->options;
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
    if (cell_diagnosis_run(d, q->only, q->n_only, &v, cli->err) != PEAT_OK)
        return CLI_FAILED;
    if (!q->json) {
        diagnosis_page(v, cli_width(NULL, 72, 120), cli->out);
        shown_print_lines(stdout, cli->out->text);
    } else {
        print_json(v);
    }
    return q->save && json_write_file(d->cell->dir, "diagnose.json", v, cli->err) != PEAT_OK
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
    if (cell_diagnosis_open(&d, cell, (int)q->batches, team, cli->trail, cli->err) == PEAT_OK)
        status = diagnose_open_cell(cli, &d);
    cell_diagnosis_close(&d);
    return status;
}

static int diagnose_one(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct team team = {.threads = (int)q->threads};
    parallel_start();
    if (gemm_start(&team, "openblas", cli->err) != PEAT_OK)
        return CLI_USAGE;
    return diagnose_cell(cli, &team);
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
    CLI_FLAG(0, "save", save, "keep the object as diagnose.json in each cell, for 'peat report'"),
    CLI_OTHER(0, "only", "DIAGNOSTIC,...", read_only,
              "logits, sizes, subspaces, support, collisions, probes, order, attention"),
    CLI_WHOLE(0, "batches", "N", 1, BATCHES_MAX, batches,
              "batches of evaluation windows, up to 1024 tokens each (default 4)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, threads,
              "threads (default: 1); the figures are the same"),
};

const struct cli_command cmd_diagnose = {
    .name = "peat diagnose",
    .summary = "how a trained cell uses position",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.batches = 4, .threads = 1),
    .run = diagnose_one,
    .apart = true,
};
