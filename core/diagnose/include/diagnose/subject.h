/* SPDX-License-Identifier: MIT */
/*
 * subject.h: a trained model under examination and the windows that it reads.
 *
 * The model is in F64, whatever its training precision, so that exact zeros show as zeros up to
 * rounding.
 */
#pragma once

#include "model/transformer.h"
#include "train/task.h"

enum {
    SUBJECT_LENGTH = 512, /* longer windows are cut to their first tokens  */
    SUBJECT_TOKENS = 1024 /* most tokens of one batch, unless one window is longer */
};

struct tables;

struct subject {
    struct model *model;
    const struct task *task;    /* task of the batches; NULL: no task             */
    const struct tables *start; /* tables of the model before training; NULL: not known */
    const struct tables *now;   /* tables of the model as it is; NULL: not computed yet */
    const struct team *team;
    int n_batch;
    peat_batch *batch;    /* [n_batch], each [B,T]; all of one T             */
    uint64_t stream;      /* key from rng_stream() for permutations and held-out groups */
    struct error err;     /* the first failure; after it every function does nothing */
    struct arena arena;   /* memory of results                               */
    struct arena work;    /* memory of arrays of one batch: marked and rewound */
    struct arena scratch; /* memory of one forward pass                      */
};

/* Initialises the arenas; model, team and batches belong to the caller. */
void subject_init(struct subject *s, struct model *model, const struct team *team, uint64_t seed);
void subject_release(struct subject *s);
/* Reads up to n batches of the task's first evaluation length. PEAT_INVALID when there is
 * nothing to read. */
peat_status subject_read(struct subject *s, const struct task *task, int n, struct error *err);

/* Tokens in all batches. */
int64_t subject_tokens(const struct subject *s);

bool subject_is_well(const struct subject *s);
/* The status of the first failure, whose text is copied to err (may be NULL). */
peat_status subject_status(const struct subject *s, struct error *err);
/* Calls add with each of the first n batches, until one fails, and rewinds s->work after each. */
void subject_each(struct subject *s, int n, void (*add)(void *ctx, const peat_batch *b), void *ctx);
