/* SPDX-License-Identifier: MIT */
/* scheme_table.h: a scheme's table for positions 0 .. T-1. */
#pragma once

#include "process/trail.h"
#include "tensor/parallel.h"
#include "tensor/tensor.h"

struct scheme_request {
    const char *scheme;        /* name or path */
    const struct value *given; /* parameters; NULL: defaults */
    int64_t d;                 /* width of the stream, and of the model */
    int64_t T, heads;
    bool alone; /* refuse schemes whose table depends on more than positions */
    /* These fields ask for a pass over tokens, which schemes that see content get in any case. */
    const int32_t *token; /* [T]; NULL: not given */
    int64_t n_token;      /* T or 0                    */
    int64_t rows, pad;    /* rows of the batch, 0: 1; places of padding before the tokens */
    int train;            /* 1: in the training phase, at `step` */
    int64_t step;
    const char *combine;     /* the combination that merges the stream; NULL: sum */
    const char *what;        /* the table: "stream", "bias", "angle"; NULL: the first */
    struct trail *trail;     /* NULL: not recorded */
    const struct team *team; /* after gemm_start */
};

/* A stream or a probe has a row per position, a bias one per query and a column per key. */
struct scheme_table {
    const char *what;                   /* "stream", "bias", or the probe's name: "angle" */
    int64_t heads, rows, columns;       /* heads 0: one table for all heads               */
    float *value;                       /* [heads or 1, rows, columns]                    */
    const char *row_name, *column_name; /* "window"; NULL: the usual names for `what`   */
    const char *const *row_label;       /* [rows]; NULL: the rows' numbers              */
    int64_t batch; /* > 1: rows of a batch; `heads` counts their heads, or the rows */
};

static inline int64_t scheme_table_values(const struct scheme_table *t)
{
    return (t->heads ? t->heads : 1) * t->rows * t->columns;
}

/* Copies the first numbers of x into the arena; value is NULL when memory ran out. */
struct scheme_table scheme_table_try(const char *what, int64_t heads, int64_t rows, int64_t columns,
                                     const struct tensor *x, struct arena *a);
/* Runs the scheme's own set-up and hooks on initial weights of seed 0. A scheme without a stream is
 * shown by its bias, or else by the first node it names for inspection. */
peat_status scheme_table_make(struct scheme_table *t, const struct scheme_request *q,
                              struct arena *a, struct error *err);
