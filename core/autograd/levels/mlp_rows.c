/* SPDX-License-Identifier: MIT */
/* mlp_rows.c: mlp_rows.h at a level. */
#include "levels/mlp_rows.h"

#include "tensor/vecmath.h"

#define TEMPLATE "levels/mlp_rows.inc"
#include "tensor/both_reals.inc"
