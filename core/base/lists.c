/* SPDX-License-Identifier: MIT */
/* lists.c: texts with several items. */

#include "base/base.h"

const char *list_add(struct arena *a, const char *list, const char *between, const char *item)
{
    return list ? arena_printf(a, "%s%s%s", list, between, item) : item;
}

const char *list_next(struct arena *a, const char **list, char end)
{
    const char *at = *list;
    size_t n = at ? strcspn(at, (char[]){end, '\0'}) : 0;
    if (!at || !*at)
        return NULL;
    *list = at + n + (at[n] == end);
    return arena_printf(a, "%.*s", (int)n, at);
}
