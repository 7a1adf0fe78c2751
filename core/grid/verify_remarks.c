/* SPDX-License-Identifier: MIT */
/* verify_remarks.c: adds a remark of `peat verify` to one of its lists. */
#include "grid/verify.h"

void verify_add(struct remarks *list, const char *cell, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(list->a, list->item, list->n, list->room) =
        (struct remark){cell, arena_vprintf(list->a, fmt, args)};
    va_end(args);
}
