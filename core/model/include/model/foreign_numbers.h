/* SPDX-License-Identifier: MIT */
/* foreign_numbers.h: kinds of real numbers in the files of other programs. */
#pragma once

#include "tensor/tensor.h"

/* Little-endian. */
enum number_kind { NUMBERS_F16, NUMBERS_BF16, NUMBERS_F32, NUMBERS_F64 };

/* A tensor in the arena from bytes at any address: F64 of F64, F32 of all others, which it holds
 * exactly. Its data is NULL when there is no memory. */
struct tensor numbers_read(enum number_kind k, int rank, const int64_t *dim, const void *bytes,
                           struct arena *a);
/* The first element that is not finite, or too large for the fp32 that weights are; -1: none. */
int64_t numbers_not_finite(const struct tensor *t);
