/* SPDX-License-Identifier: MIT */
/*
 * describe.h: properties of a scheme's table.
 *
 * In the formulas rows are positions 0, 1, 2, ...
 */
#pragma once

#include "inspect/scheme_table.h"

enum {
    DESCRIBE_LIMITS = 3,     /* 0.5, 0.1, 0.01 */
    DESCRIBE_SHIFTS = 3,     /* 1, 7, 64       */
    DESCRIBE_DISTANCES = 32, /* powers of two  */
    DESCRIBE_RANK_MAX = 2048 /* above it the rank is not computed */
};

extern const double describe_limit[DESCRIBE_LIMITS];
extern const int64_t describe_shift[DESCRIBE_SHIFTS];

/* Rows of one stream. NaN: not defined for this table. */
struct stream_description {
    int64_t rows, columns;
    int64_t moving[DESCRIBE_LIMITS]; /* dimensions with max - min over positions above the limit */
    double constant; /* share of the sum of squares that is in the mean over positions          */
    int64_t rank;    /* components for 99 % of the variance about the mean; -1: not computed     */
    int n_distance;
    int64_t distance[DESCRIBE_DISTANCES];
    double cosine[DESCRIBE_DISTANCES]; /* mean over p of cos(x_p, x_(p+k)) */
    /* For M x_p = x_(p+k), with one 2 x 2 block for each pair of dimensions: the residual of least
     * squares over all p, as a share of the norm of x_(p+k). Of the two ways to pair dimensions,
     * the one with the smaller residual. */
    double residual[DESCRIBE_SHIFTS];
    bool halves; /* pairs (i, d/2 + i); otherwise (2i, 2i + 1) */
};

/* One head's bias [T, T], without the constant of each row, which does not change the softmax. */
struct bias_description {
    int64_t T;
    double low, high;     /* range of b(i, j) less its mean over the keys j <= i of row i */
    double distance_only; /* share of the centred bias' sum of squares that i - j explains */
    int n_distance;
    int64_t distance[DESCRIBE_DISTANCES];
    double centred[DESCRIBE_DISTANCES]; /* the last query's centred bias at this distance */
};

/* x [rows, columns]. Call gemm_start for the team before. PEAT_NOMEM is the only failure. */
peat_status describe_stream(const struct team *team, struct stream_description *s, const float *x,
                            int64_t rows, int64_t columns, struct arena *a, struct error *err);
peat_status describe_bias(struct bias_description *s, const float *b, int64_t T, struct arena *a,
                          struct error *err);

/* describe_text.c: describes a whole table, head by head, as a page or as a map. A table of angles
 * is described by their cosines and sines. */
peat_status describe_page(const struct team *team, const struct scheme_table *t, const char *scheme,
                          struct strbuf *out, struct arena *a, struct error *err);
peat_status describe_value(const struct team *team, const struct scheme_table *t,
                           const char *scheme, struct value **v, struct arena *a,
                           struct error *err);
