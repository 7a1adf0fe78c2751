/* SPDX-License-Identifier: MIT */
/* norm.h: a norm with trained weights. */
#pragma once

#include "nn/weights.h"

enum norm_kind { NORM_LAYER, NORM_RMS };
#define NORM_EPS 1e-5 /* the default of what is added to the variance */

struct norm_weights {
    struct weight *w, *b; /* w NULL: no norm; b NULL: no shift */
    enum norm_kind kind;
    double eps; /* added to the variance, or to the mean of squares */
};

/* How the norms of a model are made. */
struct norm_options {
    enum norm_kind kind;
    bool bias; /* layer norms have a shift */
    double eps;
};
/* Declares "<name>.weight" [n] and, for a layer norm with a bias, "<name>.bias" [n]. */
struct norm_weights norm_declare(struct weights *w, const char *name, int64_t n,
                                 const struct norm_options *o);
/* x [..., n] -> same */
peat_node *norm_forward(struct graph *g, const struct norm_weights *n, peat_node *x);
