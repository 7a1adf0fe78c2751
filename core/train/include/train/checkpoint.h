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
 * none.
 */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "train/trainer.h"

/* `identity`: a map stored in state.json (cell hash, BLAS core type, engine). final: without the
 * optimiser. */
peat_status checkpoint_save(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err);
/* Removes what an earlier process left under temporary names; what cannot be removed stays. */
void checkpoint_tidy(const char *dir);
/* Restores the newest good generation into a freshly initialised trainer, after
 * checkpoint_tidy. *found: whether there
 * was one; damaged ones are named through `log`. PEAT_MISMATCH: a newer program saved it, which is
 * not trained over. `accept` decides on the stored identity (NULL:
 * all); a refusal says why and means starting at step 0. */
peat_status checkpoint_load(const char *dir, struct trainer *t,
                            bool (*accept)(void *ctx, const struct value *identity, char *why,
                                           size_t n),
                            void *ctx, const struct log *log, bool *found, struct error *err);
/* The directory of the newest good generation, for export; NULL when none. */
char *checkpoint_latest(const char *dir);
/* Weights alone, from a checkpoint directory's model.safetensors, into a built model. */
peat_status checkpoint_load_weights(const char *path, struct weights *w, struct error *err);

#endif
