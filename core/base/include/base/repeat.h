/* SPDX-License-Identifier: MIT */
/* repeat.h: words for one and for many; a sentence about many rows is printed once. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

/* How often text[i] stands among n texts when no earlier one is equal; else 0. NULL says nothing,
 * and counts 0. */
int times_said(const char *const *text, int n, int i);

/* "name", or "name and 3 rows more" with kind "row" where 4 rows share a sentence. In `a`. */
const char *name_and_more(struct arena *a, const char *name, const char *kind, int times);

/* "s" unless n is 1: %d cell%s. */
static inline const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}
