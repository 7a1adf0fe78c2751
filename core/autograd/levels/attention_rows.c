/* SPDX-License-Identifier: MIT */
/* attention_rows.c: attention_rows.h at a level. */
#include "levels/attention_rows.h"

#include <math.h>

#include "tensor/vecmath.h"

#define TEMPLATE "levels/attention_rows.inc"
#include "tensor/both_reals.inc"
