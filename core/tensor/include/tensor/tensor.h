/* SPDX-License-Identifier: MIT */
/*
 * tensor.h: shapes, strides and views over memory that someone else owns.
 *
 * A tensor never owns its data: the arena it was cut from does. Strides are in elements. A
 * contiguous tensor is row-major; its data is 64-byte aligned when it comes from tensor_new.
 */
#pragma once

#include "base/base.h"

struct tensor {
    peat_dtype dtype;
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    int64_t stride[PEAT_MAX_RANK];
    void *data; /* NULL while only shapes are computed */
};

size_t dtype_bytes(peat_dtype t);
const char *dtype_name(peat_dtype t); /* "F32", as safetensors spells it */

/* A contiguous shape without data. */
struct tensor tensor_shape(peat_dtype t, int rank, const int64_t *dim);
/* A contiguous tensor in the arena, not cleared; data is NULL when memory ran out. */
struct tensor tensor_new(struct arena *a, peat_dtype t, int rank, const int64_t *dim);
/* Number of elements; -1 on overflow. */
int64_t tensor_count(const struct tensor *t);
size_t tensor_bytes(const struct tensor *t);
bool tensor_contiguous(const struct tensor *t);
bool tensor_same_shape(const struct tensor *a, const struct tensor *b);
/* Broadcast shape of a and b; false when they do not broadcast. */
bool shape_broadcast(const struct tensor *a, const struct tensor *b, int *rank, int64_t *dim);
/* t seen as the given, larger shape, with stride 0 along stretched axes. */
struct tensor tensor_broadcast_to(const struct tensor *t, int rank, const int64_t *dim);
/* "[2, 3, 4]" into buf. */
const char *tensor_shape_text(const struct tensor *t, char *buf, size_t n);
/* Element by flat row-major index, as double; for tests, checks and printing. */
double tensor_get(const struct tensor *t, int64_t flat);
void tensor_set(struct tensor *t, int64_t flat, double x);
void tensor_fill(struct tensor *t, double x);
/* dst = src or dst += src: equal shapes, any strides, both F32 or both F64 (copy also converts). */
void tensor_copy(struct tensor *dst, const struct tensor *src);
void tensor_add(struct tensor *dst, const struct tensor *src);
