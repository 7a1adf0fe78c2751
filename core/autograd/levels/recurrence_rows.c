/* SPDX-License-Identifier: MIT */
/* recurrence_rows.c: recurrence_rows.h at a level. */
#include "levels/recurrence_rows.h"

#include <string.h>

#define TEMPLATE "levels/recurrence_rows.inc"
#include "tensor/both_reals.inc"
