/* SPDX-License-Identifier: MIT */
/* toy_positional.h: a positional without schemes, whose combine adds up the streams. */
#pragma once

#include "nn/positional.h"

/* With idle set, the combine also owns a weight "combine.toy.idle" that it never uses. */
void toy_positional_init(struct positional *p, bool idle);
