/* SPDX-License-Identifier: MIT */
/* bench.h: the decoder that is timed, and the speed of matrix products, for peat bench and
 * tests/bench. */
#pragma once

#include "model/transformer.h"
#include "plugin/registry.h"
#include "tensor/parallel.h"

struct bench_sizes {
    int64_t d, heads, layers, T, B, V, threads, steps, warmup;
    const char *scheme, *gemm, *block;
    bool bf16;
};

/* The default sizes. */
#define BENCH_SIZES                                                                                \
    {                                                                                              \
        .d = 128, .heads = 4, .layers = 4, .T = 128, .B = 16, .V = 256, .threads = 1, .steps = 20, \
        .warmup = 3, .scheme = "learned", .gemm = "auto", .block = "gpt2"                          \
    }

/* A model with one scheme and the combination `sum`. */
struct bench_model {
    struct registry registry;
    struct positional positional;
    struct model model;
};

/* Builds the model with seed 0, in F32; the team gets its provider of products. */
bool bench_model_open(struct bench_model *b, const struct bench_sizes *s, struct team *team,
                      struct arena *arena, struct error *err);

/* Puts gemm, blas and blas_core, as in a cell's meta.json. */
void bench_put_provider(struct json map, const struct team *team);
/* The highest GFLOP/s over square products and over the model's own shapes. Resets the arena. */
double bench_sgemm(const struct bench_sizes *s, const struct team *team, struct arena *arena);

/* Puts x, rounded to this many decimals. */
void bench_put(struct json map, const char *key, double x, int decimals);
