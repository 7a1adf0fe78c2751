/* SPDX-License-Identifier: MIT */
/* repeat.h: what is said of many rows is printed once. */
#ifndef BASE_REPEAT_H
#define BASE_REPEAT_H

#include "base/arena.h"

/* How often text[i] stands among n texts when no earlier one is equal; else 0. NULL says nothing,
 * and counts 0. */
int times_said(const char *const *text, int n, int i);

/* "name", or "name and 3 rows more" with kind "row", for what is said so many times. In `a`. */
const char *name_and_more(struct arena *a, const char *name, const char *kind, int times);

#endif
