/* SPDX-License-Identifier: MIT */
/* lists.h: texts with several items, as "a, b". */
#pragma once

#include "base/arena.h"

/* The list with one more item; NULL is an empty list. */
const char *list_add(struct arena *a, const char *list, const char *between, const char *item);
/* The next item of "a,b" at *list, where `end` is ',', and *list then points behind it; NULL at the
 * end. */
const char *list_next(struct arena *a, const char **list, char end);
