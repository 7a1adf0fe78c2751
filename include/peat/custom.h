/* SPDX-License-Identifier: MIT */
/*
 * custom.h: elements of a custom operation's operands and results, whatever their type.
 *
 * Kernels run in F32 when a model trains, also in a run of bf16, where products of matrices alone
 * round; and in F64 when gradients are checked. Written with these functions, one source computes
 * in double and serves both: numbers are rounded once, when they are stored.
 */
#ifndef PEAT_CUSTOM_H
#define PEAT_CUSTOM_H

#include <peat/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of a view. */
static inline int64_t peat_count(const peat_view *v)
{
    int64_t n = 1;
    for (int32_t i = 0; i < v->shape.rank; i++)
        n *= v->shape.dim[i];
    return n;
}

/* Element i in row-major order. */
static inline double peat_load(const peat_view *v, int64_t i)
{
    if (v->dtype == PEAT_F32)
        return (double)((const float *)v->data)[i];
    return v->dtype == PEAT_F64 ? ((const double *)v->data)[i]
                                : (double)((const int32_t *)v->data)[i];
}

/* The same of a view of indices. */
static inline int32_t peat_load_index(const peat_view *v, int64_t i)
{
    return ((const int32_t *)v->data)[i];
}

static inline void peat_store(const peat_view *v, int64_t i, double x)
{
    if (v->dtype == PEAT_F64)
        ((double *)v->data)[i] = x;
    else
        ((float *)v->data)[i] = (float)x;
}

/* Adds x to element i of a gradient, where it is wanted. */
static inline void peat_accumulate(const peat_view *v, int64_t i, double x)
{
    if (v->data)
        peat_store(v, i, peat_load(v, i) + x);
}

/* n elements from i on, as doubles. */
static inline void peat_load_row(const peat_view *v, int64_t i, int64_t n, double *x)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = peat_load(v, i + k);
}

static inline void peat_store_row(const peat_view *v, int64_t i, int64_t n, const double *x)
{
    for (int64_t k = 0; k < n; k++)
        peat_store(v, i + k, x[k]);
}

#ifdef __cplusplus
}
#endif
#endif
