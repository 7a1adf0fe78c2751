/* SPDX-License-Identifier: MIT */
/*
 * gemm_small.h: small products of F32 that the engine multiplies itself, with the library's bits.
 *
 * A library spends much of a small product, as of one attention head, on its call, on packing and
 * on shapes that its kernels do not like. Most libraries make each number of a small product as one
 * chain of fused multiply-adds along k, and so does this one. Whether the library does, and what it
 * does with alpha and the old C, is found out once for each shape, with numbers drawn for it: the
 * library multiplies them, and only where all bits are the same are products of that shape
 * multiplied here. What a cell computes does not depend on it.
 */
#ifndef TENSOR_GEMM_SMALL_H
#define TENSOR_GEMM_SMALL_H

#include <stdbool.h>

#include <peat/gemm.h>

/* One team's: what was found, and memory for operands, apart for each thread. */
struct small_products;

/* For products of the library of that name, which tells apart whatever has other bits. `notes`
 * (gemm_notes.h) are the caller's. NULL: no memory, or this CPU lacks the instructions. */
struct small_products *small_products_open(int threads, const char *library, int notes);
/* NULL is closed already. */
void small_products_close(struct small_products *all);

/* The library's own way to multiply. */
typedef void (*library_multiply)(const void *of, const peat_gemm_product *p);
/* Multiplies on the calling thread; false: nothing is done, the library is to do it. */
bool small_products_multiply(struct small_products *all, const peat_gemm_product *p,
                             library_multiply library, const void *of);

#endif
