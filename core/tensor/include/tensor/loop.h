/* SPDX-License-Identifier: MIT */
/*
 * loop.h: several tensors of one shape walked together, whatever their strides.
 *
 * Axes that all tensors step through alike are merged, so contiguous operands become one long row
 * and a bias [D] against [B,T,D] becomes B*T rows of D. Kernels see one row at a time.
 */
#pragma once

#include "tensor/parallel.h"
#include "tensor/tensor.h"

#define LOOP_MAX 4

struct loop {
    int n;    /* tensors */
    int rank; /* number of axes after merging, at least 1 */
    int64_t dim[PEAT_MAX_RANK];
    int64_t stride[LOOP_MAX][PEAT_MAX_RANK];
    void *data[LOOP_MAX];
    size_t bytes[LOOP_MAX]; /* bytes of one element */
    int64_t count;
};

/* n elements of each tensor; strides in elements, 0 for a repeated value. */
struct loop_row {
    int64_t n;
    void *p[LOOP_MAX];
    int64_t stride[LOOP_MAX];
};

typedef void (*loop_fn)(const void *ctx, const struct loop_row *row);

/* All tensors have the shape of the first. */
void loop_init(struct loop *l, int n, const struct tensor *const *t);
/* Cuts the loop into tiles of a fixed number of elements over the team, in any order; fn writes
 * only its own row. A tile may be a part of a row where that keeps the columns of a tensor in the
 * cache. */
void loop_run(const struct team *team, const struct loop *l, loop_fn fn, const void *ctx);
/* Runs fn on elements [begin, end) in row-major order, on the calling thread. */
void loop_range(const struct loop *l, int64_t begin, int64_t end, loop_fn fn, const void *ctx);

/* tensor_copy, and dst += scale * src, on a team. */
void loop_copy(const struct team *team, struct tensor *dst, const struct tensor *src);
void loop_axpy(const struct team *team, struct tensor *dst, double scale, const struct tensor *src);

/* reduce.c: dst += src summed over the axes of dst that are 1 or missing, in an order fixed by the
 * shapes; dst broadcasts to src's shape. Partial sums live in the arena during the call. False: out
 * of memory, dst unchanged. */
bool reduce_add(const struct team *team, struct arena *arena, struct tensor *dst,
                const struct tensor *src);

/* The axes of a shape in two groups: those along which a tensor moves (stride not 0) and those
 * along which it repeats. Work that adds into the tensor runs in parallel over the first and in
 * order over the second. */
struct axes {
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    int place[PEAT_MAX_RANK]; /* axis of the original shape */
    int64_t count;
};

void axes_split(int rank, const int64_t *dim, const int64_t *stride, struct axes *moves,
                struct axes *repeats);
/* All axes of a shape, as axes along which a tensor moves. */
struct axes axes_all(int rank, const int64_t *dim);
/* Offset of flat index i of the group in a tensor with these strides over the original shape. */
int64_t axes_offset(const struct axes *x, int64_t i, const int64_t *stride);
