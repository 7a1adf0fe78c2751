/* SPDX-License-Identifier: MIT */
/* lists.h: texts with several items, as "a, b", and texts that occur several times. */
#pragma once

#include "base/arena.h"

/* The list with one more item; NULL is an empty list. */
const char *list_add(struct arena *a, const char *list, const char *between, const char *item);
/* The next item of "a,b" at *list, where `end` is ',', and *list then points behind it; NULL at the
 * end. */
const char *list_next(struct arena *a, const char **list, char end);
/* The number of times that text[i] occurs among n texts, if no earlier one is equal; otherwise 0.
 * NULL counts 0. */
int times_said(const char *const *text, int n, int i);

/* "name", or "name and 3 more rows" with kind "row" where 4 rows share a sentence. In `a`. */
const char *name_and_more(struct arena *a, const char *name, const char *kind, int times);

/* "s" unless n is 1: %d cell%s. */
static inline const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}
