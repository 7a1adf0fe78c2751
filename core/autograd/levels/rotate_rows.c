/* SPDX-License-Identifier: MIT */
/* rotate_rows.c: rotate_rows.h at a level. */
#include "levels/rotate_rows.h"

#define TEMPLATE "levels/rotate_rows.inc"
#include "tensor/both_reals.inc"
