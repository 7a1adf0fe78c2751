/* SPDX-License-Identifier: MIT */
/* elementwise_rows.c: elementwise_rows.h at a level. */
#include "levels/elementwise_rows.h"

#define TEMPLATE "levels/elementwise_rows.inc"
#include "tensor/both_reals.inc"
