/* SPDX-License-Identifier: MIT */
/* stacks.h: operands of products in the form that the library reads in place: a transposed or
 * sliced view becomes a leading dimension and a flag, without a copy. */
#pragma once

#include "autograd/graph.h"
#include "tensor/bf16.h"
#include "tensor/gemm.h"

/* Matrices [rows, cols], one per point of the leading axes; flipped: stored column by column. */
struct stack {
    char *data;
    const bf16 *rounded; /* the same numbers as bf16, in the same layout; NULL: not rounded yet */
    int64_t rows, cols, ld;
    bool flipped;
    int64_t stride[PEAT_MAX_RANK]; /* strides along the leading axes, 0 where it repeats */
};

/* From this number of products on, each runs on one thread; fewer run one after another, each cut
 * into blocks over the threads. */
enum { MANY_PRODUCTS = 8 };

/* The leading axes of the products of a node. */
struct product {
    const peat_node *n;
    int lead;
    int64_t dim[PEAT_MAX_RANK];
};

/* t over the leading axes of p; data: the value's or the gradient's. */
struct stack stack_of(const struct product *p, const struct tensor *t, bool transposed);
struct stack stack_flip(struct stack s);
/* a, or a contiguous copy of it when the library cannot read it in place. */
peat_node *stack_readable(peat_graph *g, peat_node *a);

/* dst = x y (beta 0) or dst += x y (beta 1), for matrices whose data may be transposed. */
struct gemm stack_product(peat_dtype t, struct stack dst, struct stack x, struct stack y,
                          double beta);

/* The result's shape, and the length k over which products are summed; false: the operands do not
 * fit. */
struct product_shape {
    int rank;
    int64_t dim[PEAT_MAX_RANK], k;
};
bool product_shape(const struct tensor *a, const struct tensor *b, uint32_t flags,
                   struct product_shape *s);

/* op_matmul.c: merges leading axes of a that share a single b, so that their rows are one big
 * product. */
bool matmul_folds(const peat_node *a, const peat_node *b, uint32_t flags);
