/* SPDX-License-Identifier: MIT */
/* rotate_rows.h: rows of rotate and its gradients, as pairs. */
#pragma once

#include "tensor/levels.h"
#include "tensor/loop.h"

/* The context of a row function: from the first component to the second, for each tensor. */
struct rotate {
    int64_t second[LOOP_MAX];
};

struct rotate_rows {
    loop_fn rotate, unrotate, cosine_grad, sine_grad;
};
LEVEL_TABLES(rotate_rows)
