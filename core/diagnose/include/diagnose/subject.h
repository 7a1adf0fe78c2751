/* SPDX-License-Identifier: MIT */
/*
 * subject.h: a trained model under examination and the windows that it reads.
 *
 * The model is in F64 whatever it was trained in: what must be zero then is zero to rounding.
 */
#pragma once

#include "model/transformer.h"
#include "train/task.h"

enum {
    SUBJECT_LENGTH = 512, /* longer windows are cut to their first tokens  */
    SUBJECT_TOKENS = 1024 /* of one batch, at most, unless a window is longer */
};

struct tables;

struct subject {
    struct model *model;
    const struct task *task;    /* that the batches are of; NULL: none            */
    const struct tables *start; /* of the model before training; NULL: not known  */
    const struct tables *now;   /* of the model as it is; NULL: not found yet     */
    const struct team *team;
    int n_batch;
    peat_batch *batch;    /* [n_batch], each [B,T]; all of one T             */
    uint64_t stream;      /* of rng_stream(): permutations, held-out groups  */
    struct error err;     /* the first failure: what comes after it does nothing */
    struct arena arena;   /* results                                         */
    struct arena work;    /* arrays of one batch: marked and rewound         */
    struct arena scratch; /* one forward pass                                */
};

/* The arenas; model, team and batches are the caller's. */
void subject_init(struct subject *s, struct model *model, const struct team *team, uint64_t seed);
void subject_release(struct subject *s);
/* Reads up to n batches of the task's evaluation number `which`. PEAT_INVALID when there is
 * nothing to read. */
peat_status subject_read(struct subject *s, const struct task *task, int64_t which, int n,
                         struct error *err);

/* Tokens in all batches. */
int64_t subject_tokens(const struct subject *s);

bool subject_is_well(const struct subject *s);
/* The first failure, which err (may be NULL) then says. */
peat_status subject_status(const struct subject *s, struct error *err);
/* Calls add with each of the first n batches, until one fails. Its work memory is given back. */
void subject_each(struct subject *s, int n, void (*add)(void *ctx, const peat_batch *b), void *ctx);
