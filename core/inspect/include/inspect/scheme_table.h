/* SPDX-License-Identifier: MIT */
/* scheme_table.h: what a scheme makes of positions 0 .. T-1, as numbers. */
#ifndef INSPECT_SCHEME_TABLE_H
#define INSPECT_SCHEME_TABLE_H

#include "base/value.h"
#include "process/trail.h"
#include "tensor/parallel.h"

struct scheme_request {
    const char *scheme;        /* name or path */
    const struct value *given; /* parameters; NULL: none */
    int64_t d;                 /* width of the stream, and of the model */
    int64_t T, heads;
    struct trail *trail;     /* NULL: none */
    const struct team *team; /* after gemm_start */
};

/* A stream or a probe has a row per position, a bias one per query and a column per key. */
struct scheme_table {
    const char *what;                   /* "stream", "bias", or the probe's name: "angle" */
    int64_t heads, rows, columns;       /* heads 0: the same for all                      */
    float *value;                       /* [heads or 1, rows, columns]                    */
    const char *row_name, *column_name; /* "window"; NULL: as `what` has them           */
    const char *const *row_label;       /* [rows]; NULL: their numbers                  */
};

/* Runs the scheme's own set-up and hooks on initial weights of seed 0. A scheme without a stream is
 * shown by its bias, or else by the first node it names for inspection. */
peat_status scheme_table_make(struct scheme_table *t, const struct scheme_request *q,
                              struct arena *a, struct error *err);

#endif
