/* SPDX-License-Identifier: MIT */
/* loop_rows.c: loop_rows.h at a level. */
#include "levels/loop_rows.h"

#define TEMPLATE "levels/loop_rows.inc"
#include "tensor/both_reals.inc"
