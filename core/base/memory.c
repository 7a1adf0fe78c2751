/* SPDX-License-Identifier: MIT */
/* memory.c: calloc that ends the process, and calloc that does not. */
#include "base/memory.h"

#include <stdlib.h>

#include "base/error.h"

void *mem_try_array(size_t n, size_t bytes_each)
{
    return calloc(n ? n : 1, bytes_each);
}

void *mem_array(size_t n, size_t bytes_each, const char *what)
{
    void *block = mem_try_array(n, bytes_each);
    if (!block)
        out_of_memory(what);
    return block;
}
