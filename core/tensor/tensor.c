/* SPDX-License-Identifier: MIT */
/* tensor.c: shapes, strides, broadcasting and single elements. */
#include "tensor/tensor.h"

size_t dtype_bytes(peat_dtype t)
{
    return t == PEAT_F64 ? sizeof(double) : sizeof(float);
}

const char *dtype_name(peat_dtype t)
{
    switch (t) {
    case PEAT_F32:
        return "F32";
    case PEAT_F64:
        return "F64";
    case PEAT_I32:
        return "I32";
    }
    return "?";
}

struct tensor tensor_shape(peat_dtype t, int rank, const int64_t *dim)
{
    BUG_UNLESS(rank >= 0 && rank <= PEAT_MAX_RANK);
    struct tensor x = {.dtype = t, .rank = rank};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        x.dim[i] = dim[i];
        x.stride[i] = stride;
        /* tensor_count reports an overflow before any stride is used. */
        if (__builtin_mul_overflow(stride, dim[i] > 0 ? dim[i] : 1, &stride))
            stride = INT64_MAX;
    }
    return x;
}

struct tensor tensor_new(struct arena *a, peat_dtype t, int rank, const int64_t *dim)
{
    struct tensor x = tensor_shape(t, rank, dim);
    if (tensor_count(&x) >= 0)
        x.data = arena_try_alloc(a, tensor_bytes(&x));
    return x;
}

int64_t tensor_count(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] == 0)
            return 0;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 0 || __builtin_mul_overflow(n, t->dim[i], &n))
            return -1;
    /* The number of bytes must not overflow either. */
    return n <= INT64_MAX / (int64_t)sizeof(double) ? n : -1;
}

size_t tensor_bytes(const struct tensor *t)
{
    int64_t n = tensor_count(t);
    return n < 0 ? SIZE_MAX : (size_t)n * dtype_bytes(t->dtype);
}

bool tensor_contiguous(const struct tensor *t)
{
    int64_t stride = 1;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] == 0)
            return true;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->dim[i] != 1 && t->stride[i] != stride)
            return false;
        stride *= t->dim[i];
    }
    return true;
}

bool tensor_same_shape(const struct tensor *a, const struct tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

bool shape_broadcast(const struct tensor *a, const struct tensor *b, int *rank, int64_t *dim)
{
    int n = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < n; i++) {
        int ia = i - (n - a->rank), ib = i - (n - b->rank);
        int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1)
            return false;
        dim[i] = da == 1 ? db : da;
    }
    *rank = n;
    return true;
}

struct tensor tensor_broadcast_to(const struct tensor *t, int rank, const int64_t *dim)
{
    BUG_UNLESS(rank >= t->rank && rank <= PEAT_MAX_RANK);
    struct tensor x = {.dtype = t->dtype, .rank = rank, .data = t->data};
    for (int i = 0; i < rank; i++) {
        int own = i - (rank - t->rank);
        x.dim[i] = dim[i];
        if (own < 0 || (t->dim[own] == 1 && dim[i] != 1))
            continue;
        BUG_UNLESS(t->dim[own] == dim[i]);
        x.stride[i] = t->stride[own];
    }
    return x;
}

const char *tensor_shape_text(const struct tensor *t, char *buf, size_t n)
{
    size_t used = 0;
    for (int i = 0; i < t->rank && used < n; i++) {
        int k = snprintf(buf + used, n - used, "%s%" PRId64, i == 0 ? "[" : ", ", t->dim[i]);
        used += k > 0 ? (size_t)k : 0;
    }
    if (used < n)
        snprintf(buf + used, n - used, t->rank == 0 ? "[]" : "]");
    return buf;
}

static int64_t flat_offset(const struct tensor *t, int64_t flat)
{
    int64_t offset = 0;
    for (int i = t->rank - 1; i >= 0; i--) {
        offset += flat % t->dim[i] * t->stride[i];
        flat /= t->dim[i];
    }
    return offset;
}

double tensor_get(const struct tensor *t, int64_t flat)
{
    int64_t i = flat_offset(t, flat);
    switch (t->dtype) {
    case PEAT_F32:
        return (double)((const float *)t->data)[i];
    case PEAT_F64:
        return ((const double *)t->data)[i];
    case PEAT_I32:
        return ((const int32_t *)t->data)[i];
    }
    return 0.0;
}

void tensor_set(struct tensor *t, int64_t flat, double x)
{
    int64_t i = flat_offset(t, flat);
    switch (t->dtype) {
    case PEAT_F32:
        ((float *)t->data)[i] = (float)x;
        break;
    case PEAT_F64:
        ((double *)t->data)[i] = x;
        break;
    case PEAT_I32:
        ((int32_t *)t->data)[i] = (int32_t)x;
        break;
    }
}
