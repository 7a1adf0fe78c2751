/* SPDX-License-Identifier: MIT */
/* bf16_rows.h: F32 to bf16. */
#pragma once

#include "tensor/bf16.h"
#include "tensor/levels.h"

struct bf16_rows {
    /* As bf16_round_plainly. */
    void (*round)(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                  int64_t step);
    /* As bf16_scale. */
    void (*scale)(float *x, const bf16 *by, int64_t n);
};
LEVEL_TABLE(bf16_rows, bf16_rows)
