/* SPDX-License-Identifier: MIT */
/* generation.h: one saved generation: its name, its state.json, its checks. */
#pragma once

#include "model/safetensors.h"
#include "train/trainer.h"

#define GENERATION_MODEL     "model.safetensors"
#define GENERATION_OPTIMISER "optimiser.safetensors"
#define GENERATION_STATE     "state.json"

/* the format of state.json */
extern const struct record state_record;

/* "step-00000500" */
#define GENERATION_NAME 32
void generation_name(int64_t step, char name[GENERATION_NAME]);
/* The step in a generation's name; -1: not such a name. */
int64_t generation_step(const char *name);

/* The tensors of a file, borrowed, *n of them: all weights, or with `o` the moments of trained
 * weights, "opt.m.NAME" and "opt.v.NAME". */
struct named_tensor *generation_tensors(const struct weights *w, const struct adamw *o,
                                        struct arena *a, int *n);
/* Copies n tensors, sorted by name, into the weights of the same names, converting F32 to F64 where
 * the model has that. path is for messages. PEAT_CORRUPT: one is missing or of another shape. */
peat_status generation_fill(struct weights *w, const struct named_tensor *t, int n,
                            const char *path, struct error *err);
/* Writes state.json into dir, with the checksums of the files beside it. This and the two below
 * return whether they succeeded. */
bool generation_write_state(const char *dir, const struct trainer *t, const struct value *identity,
                            bool final, struct error *err);
/* Renames the generation before its files are removed, so that a partly removed one never has a
 * valid name. */
bool generation_remove(const char *dir, const char *name, struct error *err);
/* Renames `temporary`, a path in dir, to the generation's name; replaces a generation of
 * that name. */
bool generation_publish(const char *dir, const char *name, const char *temporary,
                        struct error *err);
/* Reads state.json and verifies every checksum. PEAT_MISMATCH: a newer program wrote it. */
peat_status generation_read_state(const char *dir, struct arena *a, struct value **state,
                                  struct error *err);
/* Sets the fields of the trainer that state.json has. */
peat_status generation_apply_state(const struct value *state, struct trainer *t, struct error *err);
