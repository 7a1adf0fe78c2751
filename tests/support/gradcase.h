/* SPDX-License-Identifier: MIT */
/*
 * gradcase.h: one row of a table of operations, and what every row must pass.
 *
 * Inputs are leaves filled from a fixed stream in [lo, hi); a row's bounds keep them away from
 * kinks and poles. Index operands are constants made by the row's own `build`, which has to work
 * for graphs of both real types.
 */
#pragma once

#include "support/gradcheck.h"

#define GRADCASE_INPUTS 5

struct gradcase_input {
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    double lo, hi; /* both 0: -1 and 1 */
    bool fixed;    /* its gradient is not checked */
};

struct gradcase {
    const char *name;
    int n_input;
    struct gradcase_input input[GRADCASE_INPUTS];
    gradcheck_fn build;
    void *ctx;
};

/* A function that builds a row's result: an expression in the graph g, its operands in[] and ctx.
 */
#define BUILD(name, expression)                                                                    \
    static peat_node *name(struct graph *graph, peat_node *const *in, void *ctx)                   \
    {                                                                                              \
        peat_graph *g = &graph->base;                                                              \
        (void)ctx;                                                                                 \
        return expression;                                                                         \
    }

/* The outcome of the gradient check at 1e-7, for rows that are meant to fail. */
peat_status gradcase_check(const struct gradcase *c, struct error *err);
/* Asserts that the gradient check passes, that gradients are added to those before, and that they
 * do not read operands that operations mark unread. */
void gradcase_run(const struct gradcase *c);
/* Asserts that the F32 result is the F64 one up to a relative squared error of 1e-10. */
void gradcase_f32(const struct gradcase *c);
/* Asserts that the F32 result and all its gradients have the same bits at 1, 2 and 4 threads. */
void gradcase_threads(const struct gradcase *c);
/* A shape-only graph gives the shape and the byte count of the real one. */
void gradcase_shape(const struct gradcase *c);
