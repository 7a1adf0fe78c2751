/* SPDX-License-Identifier: MIT */
/* generation.h: one saved generation: its name, its state.json, its checks. */
#ifndef TRAIN_GENERATION_H
#define TRAIN_GENERATION_H

#include "base/record.h"
#include "train/trainer.h"

#define GENERATION_MODEL     "model.safetensors"
#define GENERATION_OPTIMISER "optimiser.safetensors"
#define GENERATION_STATE     "state.json"

/* state.json */
extern const struct record state_record;

/* "step-00000500" */
#define GENERATION_NAME 32
void generation_name(int64_t step, char name[GENERATION_NAME]);
/* The step of such a name; -1: another name. */
int64_t generation_step(const char *name);

/* Writes state.json into dir, with the checksums of the files beside it. */
peat_status generation_write_state(const char *dir, const struct trainer *t,
                                   const struct value *identity, bool final, struct error *err);
/* It is renamed before it is taken apart: half of one never carries a good name. */
peat_status generation_remove(const char *dir, const char *name, struct error *err);
/* From another path in dir to its name, over what may stand there. */
peat_status generation_publish(const char *dir, const char *name, const char *temporary,
                               struct error *err);
/* Reads state.json and verifies every checksum. PEAT_MISMATCH: a newer program wrote it. */
peat_status generation_read_state(const char *dir, struct arena *a, struct value **state,
                                  struct error *err);
/* The trainer's fields as state.json has them. */
peat_status generation_apply_state(const struct value *state, struct trainer *t, struct error *err);

#endif
