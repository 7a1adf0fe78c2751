/* SPDX-License-Identifier: MIT */
/*
 * plugin_harness.h: one built plugin on its own, set up and called as the engine does it, in F64.
 *
 * Plugins are found below $PEAT_BUILD. A harness has one plugin; its hooks are called through
 * `scheme`, `combine` or `task.hooks` with the call that harness_call prepares.
 */
#pragma once

#include <peat/plugin.h>

#include "nn/pass.h"
#include "support/gradcheck.h"
#include "support/support.h"
#include "train/task.h"

struct harness {
    struct arena arena, step; /* life of the harness; of one forward pass */
    struct error err;         /* of the last failure, as a user would read it */
    const peat_plugin *desc;
    void *config;
    const peat_scheme *scheme;
    const peat_combine *combine;
    struct task task;
    peat_dims dims;
    struct weights weights;
    struct positional positional;
    struct graph graph;
    struct pass pass;
    struct call call;
};

/* Each loads the plugin, fills its parameters from JSON (NULL: none given) and runs its setup.
 * Weights have their initial values of seed 1. In dims C and the sizes are filled in. */
peat_status harness_scheme(struct harness *h, const char *name, const char *json,
                           const peat_dims *dims);
/* D: d_model; width [n] in and out. The final model width is h->positional.D. */
peat_status harness_combine(struct harness *h, const char *name, const char *json,
                            const peat_dims *dims, int32_t n, const char *const *stream,
                            int64_t *width);
peat_status harness_task(struct harness *h, const char *name, const char *json,
                         const peat_task_plan *plan);
void harness_close(struct harness *h);

/* The task's next batch; the test fails if there is none. */
void harness_train(struct harness *h, uint64_t seed, int64_t step, struct batch *b);
void harness_eval(struct harness *h, int64_t which, int64_t index, struct batch *b);
void harness_test(struct harness *h, int64_t which, int64_t index, struct batch *b);

/* A call of a new forward pass over B rows of T positions; pos [pos_B, T] (NULL: 0 .. T-1). Runs
 * prepare where there is one. Nodes of the call before are dead. */
const peat_call *harness_call(struct harness *h, int64_t B, int64_t T, int64_t pos_B,
                              const double *pos);
/* The same pass once more, where a test has put tokens, documents, padding, a phase or a step into
 * the call: runs own_positions of them. False: it failed. */
bool harness_again(struct harness *h);
/* A constant of this pass; values in row-major order. */
peat_node *harness_constant(struct harness *h, int32_t rank, const int64_t *dim,
                            const double *value);
double harness_at(const peat_node *n, int64_t flat);
/* Checks the gradient of merge with respect to every stream [shape B|1, T, width] and every tensor
 * of the combine; asserts. batch[i] is the B of stream i. */
void harness_gradcheck_merge(struct harness *h, int64_t T, int32_t n, const int64_t *batch);
/* The same for encode and the scheme's tensors. */
void harness_gradcheck_encode(struct harness *h, int64_t T, const double *pos);

/* main of a plugin's test. */
#define PLUGIN_TESTS(plugin_)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        return run_tests((struct tests){.subject = plugin_});                                      \
    }
