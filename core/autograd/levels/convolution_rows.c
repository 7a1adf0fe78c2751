/* SPDX-License-Identifier: MIT */
/* convolution_rows.c: convolution_rows.h at a level. */
#include "levels/convolution_rows.h"

#define TEMPLATE "levels/convolution_rows.inc"
#include "tensor/both_reals.inc"
