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
 * none. Generations that another program or machine made are kept beside the run's own until it is
 * done (kept.h).
 */
#pragma once

#include "train/trainer.h"

/* `identity`: a map stored in state.json (cell hash, BLAS core type, engine). final: without the
 * optimiser. */
peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err);
/* Removes what an earlier process left under temporary names; what cannot be removed stays. */
void checkpoint_tidy(const char *dir);

/* Decides which generations are used. */
struct checkpoint_gate {
    /* By the stored identity. PEAT_REFUSED: it is another's, and kept; PEAT_CORRUPT: it is of no
     * use. kept: the folder of one that was kept, with its curve; NULL: one of the run's own. */
    peat_status (*accept)(void *ctx, const struct value *identity, const char *kept,
                          struct error *why);
    void *ctx;
    const char *curve; /* a file that grows with the run and belongs to its generations */
};

/* Restores the newest generation that is good and accepted (gate NULL: all are), the run's own or a
 * kept one, into a freshly initialised trainer, after checkpoint_tidy; the curve is then that
 * generation's. *found: whether there was one; others are named through `log`. PEAT_MISMATCH: a
 * newer program saved it, which is not trained over. */
peat_status checkpoint_load(const char *dir, struct trainer *t, const struct checkpoint_gate *gate,
                            const struct log *log, bool *found, struct error *err);

/*
 * States that runs leave for each other: generations in a directory that several processes write to
 * and read from, each with a copy of its curve, and none removed.
 */
/* Adds the present state, in the place of an earlier one of its step. owner: a text for names of
 * temporary files, which no other process that is alive uses. */
peat_status checkpoint_leave(const char *dir, const struct trainer *t, const struct value *identity,
                             const char *curve, const char *owner, struct error *err);
/* Restores the furthest that is good and accepted, beyond t->step and not beyond `most`, and puts
 * its curve in the place of the gate's. *found: whether there was one; else nothing is changed. The
 * gate's `kept` is the folder of the state. */
peat_status checkpoint_branch(const char *dir, int64_t most, struct trainer *t,
                              const struct checkpoint_gate *gate, const struct log *log,
                              bool *found, struct error *err);

/* "started again from step 0, as the checkpoint of step 500 is not used: its libm is ...": of the
 * furthest that is kept; NULL: none is. */
const char *checkpoint_kept(const char *dir, struct arena *a);
/* The directory of the newest good generation, for export; NULL when none. */
char *checkpoint_latest(const char *dir);
