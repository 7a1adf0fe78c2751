/* SPDX-License-Identifier: MIT */
/* copy.c: filling, copying and adding tensors of any strides, on the calling thread. */
#include "tensor/loop.h"

void tensor_fill(struct tensor *t, double x)
{
    struct tensor one = {.dtype = PEAT_F64, .data = &x};
    struct tensor wide = tensor_broadcast_to(&one, t->rank, t->dim);
    loop_copy(NULL, t, &wide);
}

void tensor_copy(struct tensor *dst, const struct tensor *src)
{
    loop_copy(NULL, dst, src);
}

void tensor_add(struct tensor *dst, const struct tensor *src)
{
    loop_axpy(NULL, dst, 1.0, src);
}
