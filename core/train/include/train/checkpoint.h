/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.h: a run's state on disk, two generations, each whole or absent.
 *
 *   <dir>/step-00000500/model.safetensors      weights by name
 *   <dir>/step-00000500/optimiser.safetensors  opt.m.<name>, opt.v.<name>; absent in the final one
 *   <dir>/step-00000500/state.json             step, counters, identity, SHA-256 of both files
 *
 * A generation is written under a temporary name, fsynced and renamed; the one before the last is
 * removed only afterwards. Reading verifies the checksums and falls back: last, the one before,
 * none. Generations from another program or machine are kept beside the run's own until the run is
 * done (kept.h).
 */
#pragma once

#include "train/trainer.h"

/* `identity`: a map stored in state.json (cell hash, BLAS core type, engine). final: without the
 * optimiser. */
peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err);
/* Removes files that an earlier process left under temporary names; what cannot be removed
 * stays. */
void checkpoint_tidy(const char *dir);

/* Functions that decide which generations are used. */
struct checkpoint_gate {
    /* Judges a generation by its stored identity. PEAT_REFUSED: another program or machine made it;
     * it is kept. PEAT_CORRUPT: it cannot be used. kept: the folder of a generation that was kept,
     * with its curve; NULL: the generation is the run's own. */
    peat_status (*accept)(void *ctx, const struct value *identity, const char *kept,
                          struct error *why);
    void *ctx;
    const char *curve; /* a file that grows with the run and belongs to its generations */
};

/* After checkpoint_tidy restores the newest generation that is good and accepted (gate NULL: all
 * are), the run's own or a kept one, into a freshly initialised trainer; the curve is then that
 * generation's. *found: whether there was one. `log` names generations that were not used.
 * PEAT_MISMATCH: a newer program saved it, and training must not replace it. */
peat_status checkpoint_load(const char *dir, struct trainer *t, const struct checkpoint_gate *gate,
                            const struct log *log, bool *found, struct error *err);

/* States that runs leave for each other: generations in a directory that several processes use at
 * once. Each has a copy of its curve, and none is removed. */
/* Adds the present state, replacing an earlier one of its step. owner: a text for names of
 * temporary files, which no other living process uses. */
peat_status checkpoint_leave(const char *dir, const struct trainer *t, const struct value *identity,
                             const char *curve, const char *owner, struct error *err);
/* Restores the state of the latest step that is good and accepted, beyond t->step and at most
 * `most`, and replaces the gate's curve by that state's. *found: whether there was one; if not,
 * nothing changes. The gate's `kept` is the folder of the state. */
peat_status checkpoint_branch(const char *dir, int64_t most, struct trainer *t,
                              const struct checkpoint_gate *gate, const struct log *log,
                              bool *found, struct error *err);

/* Why the latest kept generation is not used: "started again from step 0, as the checkpoint of step
 * 500 is not used: its libm is ..."; NULL: none is kept. */
const char *checkpoint_kept(const char *dir, struct arena *a);
/* The directory of the newest good generation, for export; NULL when no generation is good. */
char *checkpoint_latest(const char *dir);
