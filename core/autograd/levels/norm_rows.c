/* SPDX-License-Identifier: MIT */
/* norm_rows.c: norm_rows.h at a level. */
#include "levels/norm_rows.h"

#include <math.h>
#include <string.h>

#include "tensor/vecmath.h"

#define TEMPLATE "levels/norm_rows.inc"
#include "tensor/both_reals.inc"
