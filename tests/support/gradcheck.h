/* SPDX-License-Identifier: MIT */
/*
 * gradcheck.h: analytic against numeric gradients, in F64.
 *
 * The function builds a graph from its inputs and returns any node; the check contracts it with
 * fixed pseudo-random weights to a scalar L, runs backward, and compares every dL/dx (or an evenly
 * spread sample of max_elements per input) with the central difference (L(x+h) - L(x-h)) / 2h. It
 * also runs backward twice and demands the same bits.
 */
#pragma once

#include "autograd/graph.h"

/* Inputs are F64 leaves over the caller's contiguous tensors. */
typedef peat_node *(*gradcheck_fn)(struct graph *g, peat_node *const *input, void *ctx);

struct gradcheck {
    double h;                /* 0: 1e-5 */
    double limit;            /* relative error allowed, |a - n| / max(1, |a|, |n|); 0: 1e-7 */
    int64_t max_elements;    /* 0: all */
    const struct team *team; /* after gemm_start; NULL: there are no products */
};

struct gradcheck_result {
    double worst; /* relative error               */
    int input;    /* where                         */
    int64_t index;
    double analytic, numeric;
    int64_t checked;
};

/* PEAT_OK, PEAT_FAILED with a text naming input, index and both values, or the graph's error.
 * An input with needs[i] false is not checked. needs may be NULL. */
peat_status gradcheck_run(const struct gradcheck *options, gradcheck_fn fn, void *ctx, int n_input,
                          struct tensor *input, const bool *needs, struct gradcheck_result *result,
                          struct error *err);
