/* SPDX-License-Identifier: MIT */
/* repeat.h: singular and plural; a sentence about many rows is printed once. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

/* The number of times that text[i] occurs among n texts, if no earlier one is equal; otherwise 0.
 * NULL counts 0. */
int times_said(const char *const *text, int n, int i);

/* "name", or "name and 3 rows more" with kind "row" where 4 rows share a sentence. In `a`. */
const char *name_and_more(struct arena *a, const char *name, const char *kind, int times);

/* "s" unless n is 1: %d cell%s. */
static inline const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}
