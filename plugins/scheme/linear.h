/* SPDX-License-Identifier: MIT */
/* linear.h: tensors of linear layers that authors leave to PyTorch. */
#ifndef SCHEME_LINEAR_H
#define SCHEME_LINEAR_H

#include <math.h>

#include <peat/plugin.h>

/* A tensor of each layer that starts uniform up to 1/sqrt(n), PyTorch's default for n inputs. */
static inline void linear_param(peat_setup *s, const char *name, int32_t rank, const int64_t *dim,
                                int64_t n)
{
    double r = 1 / sqrt((double)n);
    peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r};
    peat_param_new(s, name, rank, dim, init, PEAT_PER_LAYER, 0);
}

#endif
