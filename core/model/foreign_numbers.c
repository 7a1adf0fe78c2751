/* SPDX-License-Identifier: MIT */
/* foreign_numbers.c: numbers in the files of other programs, as tensors. */
#include "model/foreign_numbers.h"

#include "tensor/bf16.h"

/* IEEE 754 binary16: sign, 5 bits of exponent, 10 of significand. */
static float f16_value(uint16_t x)
{
    int exponent = x >> 10 & 31, significand = x & 1023;
    float sign = x >> 15 ? -1.0f : 1.0f;
    if (exponent == 31)
        return significand ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf((float)(1024 + significand), exponent - 25)
                            : ldexpf((float)significand, -24));
}

struct tensor numbers_read(enum number_kind k, int rank, const int64_t *dim, const void *bytes,
                           struct arena *a)
{
    struct tensor t = tensor_new(a, k == NUMBERS_F64 ? PEAT_F64 : PEAT_F32, rank, dim);
    bool short_ones = k == NUMBERS_F16 || k == NUMBERS_BF16;
    if (!t.data)
        return t;
    if (!short_ones && tensor_bytes(&t) > 0)
        memcpy(t.data, bytes, tensor_bytes(&t));
    for (int64_t i = 0; short_ones && i < tensor_count(&t); i++) {
        uint16_t x;
        memcpy(&x, (const char *)bytes + 2 * i, sizeof(x));
        ((float *)t.data)[i] = k == NUMBERS_F16 ? f16_value(x) : bf16_value(x);
    }
    return t;
}

int64_t numbers_not_finite(const struct tensor *t)
{
    for (int64_t i = 0; i < tensor_count(t); i++)
        if (!isfinite((float)tensor_get(t, i)))
            return i;
    return -1;
}
