/* SPDX-License-Identifier: MIT */
/* lists.c: texts with several items, and texts that occur several times. */

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

static bool says(const char *text, const char *other)
{
    return other && strcmp(text, other) == 0;
}

int times_said(const char *const *text, int n, int i)
{
    int times = 0;
    for (int j = 0; text[i] && j < i; j++)
        if (says(text[i], text[j]))
            return 0;
    for (int j = i; text[i] && j < n; j++)
        times += says(text[i], text[j]);
    return times;
}

const char *name_and_more(struct arena *a, const char *name, const char *kind, int times)
{
    if (times <= 1)
        return name;
    return arena_printf(a, "%s and %d more %s%s", name, times - 1, kind, times == 2 ? "" : "s");
}
