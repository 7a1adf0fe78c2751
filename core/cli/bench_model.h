/* SPDX-License-Identifier: MIT */
/* bench_model.h: the decoder that benchmarks time. */
#ifndef CLI_BENCH_MODEL_H
#define CLI_BENCH_MODEL_H

#include "cli/bench.h"
#include "model/transformer.h"
#include "plugin/registry.h"

struct bench_model {
    struct registry registry;
    struct positional positional;
    struct model model;
};

/* With seed 0, in F32; the team gets its provider of products. */
peat_status bench_model_open(struct bench_model *b, const struct bench_sizes *s, struct team *team,
                             struct arena *arena, struct error *err);

#endif
