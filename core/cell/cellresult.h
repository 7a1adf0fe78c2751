/* SPDX-License-Identifier: MIT */
/* cellresult.h: a running cell, and its result.json once its trainer has finished. */
#pragma once

#include "cell/assemble.h"
#include "cell/cellmetrics.h"
#include "cell/cellrun.h"
#include "process/state.h"
#include "process/stopsignal.h"
#include "tensorboard.h"

/* A running cell. */
struct cell {
    const char *dir;
    const struct cellrun_options *options;
    struct arena *arena;
    struct log log;
    struct registry registry;
    struct value *config_json;
    struct cell_config config;
    struct value *meta;
    struct assembly assembly;
    struct team team;
    struct trainer trainer;
    struct engine *engine; /* NULL: this program computes the passes */
    struct stop_signal stop;
    struct cell_metrics metrics;
    struct tensorboard *tensorboard; /* NULL: not requested */
    char init_hash[HASH_HEX], init_shapes[HASH_HEX];
    struct value *untrained; /* positional tensors with rows that were never trained */
    struct value *drift;     /* see identity.h; NULL: no drift */
    int64_t curve;           /* bytes of metrics.jsonl that the checkpoint was sealed with */
    int n_measure, room;
    struct measure *measure; /* values of the last evaluation */
    int n_tested, tested_room;
    struct test_stretches *tested; /* losses of the test part, by length */
    /* Of a finished cell that is evaluated again: */
    int n_first, first_room;
    struct measure *first;              /* the first values of the test part, by length */
    const struct value *last_stretches; /* of its last result; NULL: unknown */
    double last_loss;
    bool trained;              /* steps were taken in this process */
    const struct value *trunk; /* trunk of config.json; NULL: the cell has none */
    int64_t measured_until;    /* a step, and processor seconds: see step_seconds */
    double measured_from;
    struct guard guard;
    char plugins[256]; /* "the plugins copy, rotary, sum" */
};

/* Makes the content of result.json, after all other files of the cell were written. False: an
 * error. */
bool cell_result(struct cell *c, struct value **result, struct error *err);

/* Tensors of finite-length schemes with more rows than the longest training sequence, some of which
 * never got a gradient: {name: rows}; NULL when there are no such tensors. */
struct value *untrained_rows(const struct trainer *t, struct arena *a);

/*
 * foreigntraining.c: reads a training of a cell by another program, as `python3 -m peat.torch
 * train` writes it: a safetensors file of the weights and of AdamW's second moments
 * ("opt.v.<name>"), with "peat_trained" in its metadata (docs/checkpoint.md, "Trained elsewhere").
 */
struct foreign_training {
    const char *by;               /* the program, "PyTorch 2.1.0, cuda" */
    const struct value *formulas; /* [{path, sha256}] of plugins' formulas; NULL: not said */
    const struct value *curve;    /* [[step, loss, rate, norm of the gradient], ...] */
    double last_loss;
};

/* Sets the weights, the second moments and the state of a trainer at its start from the file, which
 * must belong to the cell with this hash and have all its steps. Texts are in the arena.
 * PEAT_INVALID and PEAT_CORRUPT: it is not such a file. Returns whether it succeeded. */
bool foreign_training_read(const char *path, const char *hash, struct trainer *t, struct arena *a,
                           struct foreign_training *f, struct error *err);
/* Writes the curve of that training. */
void foreign_training_curve(const struct foreign_training *f, const struct trainer *t,
                            struct cell_metrics *m);
