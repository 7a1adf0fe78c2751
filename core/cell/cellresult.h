/* SPDX-License-Identifier: MIT */
/* cellresult.h: a cell's result.json from a finished trainer. */
#pragma once

#include "cell/assemble.h"
#include "train/trainer.h"

struct cell_outcome {
    const char *dir; /* the cell's, where all but result.json is written */
    const struct value *meta;
    const struct cell_config *config;
    const struct value *config_json;
    struct assembly *assembly;
    struct trainer *trainer;
    const char *init_hash, *init_shapes; /* of the weights that schemes and combinations share */
    const struct value *untrained;       /* NULL: all rows were trained */
    const struct value *drift;           /* identity.h; NULL: none */
    int n_measure;
    const struct measure *measure;
    int n_tested;
    const struct test_stretches *tested; /* by length */
    double last_loss;
};

peat_status cell_result(const struct cell_outcome *o, struct arena *a, struct value **result,
                        struct error *err);

/* Tensors of finite-length schemes with more rows than the longest training sequence, some of which
 * never got a gradient: {name: rows}; NULL when there are none. */
struct value *untrained_rows(const struct trainer *t, struct arena *a);
