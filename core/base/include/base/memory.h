/* SPDX-License-Identifier: MIT */
/*
 * memory.h: memory that is freed piece by piece, where an arena does not fit: for data that grow
 * without limit, or are freed early. Everything here is freed with free().
 *
 * Running out of memory ends the process with one line, as with arenas.
 */
#pragma once

#include <stddef.h>

/* n elements, cleared; never NULL, also for n = 0. `what` is named when memory runs out. */
void *mem_array(size_t n, size_t bytes_each, const char *what);
