/* SPDX-License-Identifier: MIT */
/* foreign_numbers.h: kinds of real numbers in the files of other programs. */
#pragma once

#include "tensor/tensor.h"

/* The kinds that can be read, all little-endian. */
enum number_kind { NUMBERS_F16, NUMBERS_BF16, NUMBERS_F32, NUMBERS_F64 };

/* A tensor in the arena from bytes at any address: F64 stays F64, all others become F32, which
 * holds them exactly. Its data is NULL when memory ran out. */
struct tensor numbers_read(enum number_kind k, int rank, const int64_t *dim, const void *bytes,
                           struct arena *a);
/* The first element that is not finite, or too large for the fp32 of weights; -1: all are fine. */
int64_t numbers_not_finite(const struct tensor *t);
