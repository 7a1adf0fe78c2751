/* SPDX-License-Identifier: MIT */
/* softmax_rows.c: softmax_rows.h at a level. */
#include "levels/softmax_rows.h"

#include <math.h>

#include "tensor/vecmath.h"

#define TEMPLATE "levels/softmax_rows.inc"
#include "tensor/both_reals.inc"
