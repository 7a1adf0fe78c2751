/* SPDX-License-Identifier: MIT */
/* bench.h: the benchmarks behind peat bench. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "base/json.h"
#include "cli/cli.h"
#include "tensor/parallel.h"

struct bench_sizes {
    int64_t d, heads, layers, T, B, V, threads, steps, warmup;
    const char *scheme, *gemm;
    bool bf16;
};

/* Each prints its results and returns the exit code. */
int bench_step(const struct bench_sizes *s, bool json);
int bench_decode(const struct bench_sizes *s, bool json);
int bench_ops(const struct bench_sizes *s, bool json);
int bench_grid(const struct bench_sizes *s, bool json);

/* gemm, blas, blas_core: as in a cell's meta.json. */
void bench_put_provider(struct json map, const struct team *team);
/* GFLOP/s: the most over square products and over the model's own shapes. The arena is reset. */
double bench_sgemm(const struct bench_sizes *s, const struct team *team, struct arena *arena);

/* Rounded to `decimals`: nothing here is known better. */
void bench_put(struct json map, const char *key, double x, int decimals);
/* A map of texts and numbers: as one line of JSON, so that runs can be appended to a file, or a
 * line for each. */
void bench_print(struct json map, bool json);

#endif
