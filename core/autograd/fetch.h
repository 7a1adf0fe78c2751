/* SPDX-License-Identifier: MIT */
/* fetch.h: prefetching of memory before it is read or written. It changes only the time. */
#pragma once

#include "base/base.h"

static inline void fetch_bytes(const void *from, int64_t bytes, bool write)
{
    enum { LINE = 64, READ = 0, WRITE = 1, SECOND_CACHE = 2 };
    for (int64_t i = 0; i < bytes; i += LINE)
        if (write)
            __builtin_prefetch((const char *)from + i, WRITE, SECOND_CACHE);
        else
            __builtin_prefetch((const char *)from + i, READ, SECOND_CACHE);
}
