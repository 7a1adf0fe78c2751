/* SPDX-License-Identifier: MIT */
/* loss_rows.c: loss_rows.h at a level. */
#include "levels/loss_rows.h"

#include <math.h>
#include <string.h>

#include "tensor/vecmath.h"

enum { LOSS_PIECE = 512 };

#define TEMPLATE "levels/loss_rows.inc"
#include "tensor/both_reals.inc"
