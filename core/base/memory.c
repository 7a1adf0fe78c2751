/* SPDX-License-Identifier: MIT */
/* memory.c: calloc that ends the process when memory runs out. */

#include "base/base.h"

void *mem_array(size_t n, size_t bytes_each, const char *what)
{
    void *block = calloc(n ? n : 1, bytes_each);
    if (!block)
        out_of_memory(what);
    return block;
}
