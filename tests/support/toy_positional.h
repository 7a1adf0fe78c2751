/* SPDX-License-Identifier: MIT */
/* toy_positional.h: a positional without schemes, whose combine adds up the streams. */
#ifndef TESTS_TOY_POSITIONAL_H
#define TESTS_TOY_POSITIONAL_H

#include "nn/positional.h"

/* With idle set, the combine also owns a weight "combine.toy.idle" that it never uses. */
void toy_positional_init(struct positional *p, bool idle);

#endif
