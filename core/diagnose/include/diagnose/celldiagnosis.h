/* SPDX-License-Identifier: MIT */
/* celldiagnosis.h: from a cell of a run directory to its diagnosis. */
#pragma once

#include "cell/assemble.h"
#include "diagnose/diagnostics.h"
#include "grid/rundir.h"

struct cell_diagnosis {
    struct arena arena; /* plugins' configurations, model */
    struct registry registry;
    struct cell_config config;
    struct assembly assembly;
    struct subject subject;
    const char *generation; /* directory of the checkpoint whose weights are read */
    int64_t step;           /* training step of the weights          */
    char weights[HASH_HEX]; /* SHA-256 of the file of the weights    */
    const char *changed;    /* names of plugins or data that have changed since training; NULL:
                             * unchanged */
    const struct cell_files *cell;
};

/* Rebuilds the cell's model in F64 with its newest weights and reads n_batch batches of its first
 * evaluation length. Refuses a cell without weights, and data that differ from the training's;
 * plugins that differ are noted. The trail (may be NULL) records the hooks that run. Call
 * gemm_start for the team before; the team outlives d. Call cell_diagnosis_close also after a
 * failure. */
peat_status cell_diagnosis_open(struct cell_diagnosis *d, const struct cell_files *cell,
                                int n_batch, const struct team *team, struct trail *trail,
                                struct error *err);
/* The same with the initial weights and one batch; the cell need not be trained. */
peat_status cell_diagnosis_open_start(struct cell_diagnosis *d, const struct cell_files *cell,
                                      const struct team *team, struct trail *trail,
                                      struct error *err);
/* Computes the whole tree, in d's memory. */
peat_status cell_diagnosis_run(struct cell_diagnosis *d, const char *const *only, int n_only,
                               struct value **v, struct error *err);
void cell_diagnosis_close(struct cell_diagnosis *d);
