/* SPDX-License-Identifier: MIT */
/* real.h: elements of a view of either real type, for kernels of custom operations. */
#ifndef SCHEME_REAL_H
#define SCHEME_REAL_H

#include <peat/plugin.h>

static inline double real_get(const peat_view *v, int64_t i)
{
    return v->dtype == PEAT_F64 ? ((const double *)v->data)[i]
                                : (double)((const float *)v->data)[i];
}

static inline void real_put(const peat_view *v, int64_t i, double x)
{
    if (v->dtype == PEAT_F64)
        ((double *)v->data)[i] = x;
    else
        ((float *)v->data)[i] = (float)x;
}

/* Where a gradient is wanted, x is added to its element i. */
static inline void real_add(const peat_view *v, int64_t i, double x)
{
    if (v->data)
        real_put(v, i, real_get(v, i) + x);
}

#endif
