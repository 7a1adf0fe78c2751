/* SPDX-License-Identifier: MIT */
/* repeat.c: finds the first of equal texts, and counts the others. */

#include "base/base.h"

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
    return arena_printf(a, "%s and %d %s%s more", name, times - 1, kind, times == 2 ? "" : "s");
}
