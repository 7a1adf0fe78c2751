/* SPDX-License-Identifier: MIT */
/*
 * arena.h: memory by life span.
 *
 * run (experiment, plugins) > model (parameters, optimiser, tables) > step (nodes, activations,
 * gradients). Memory is handed out by bumping a pointer and given back all at once. Every block is
 * 64-byte aligned. Pages are kept over a reset, so later steps need no memory from the system.
 * Under AddressSanitizer memory that was given back is poisoned.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;
struct arena_guard;

struct arena {
    const char *name;
    struct arena_chunk *first, *current;
    size_t chunk_bytes; /* size of the next chunk from the system */
    size_t used;        /* bytes handed out since the last reset        */
    size_t high_water;  /* largest `used` so far                        */
    size_t guard_bytes;
    unsigned char guard_mark;
    struct arena_guard *guard; /* guard of the newest block; NULL: no guards */
    const char *const *owner;  /* *owner names the owner of new guarded blocks; NULL: no names */
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
};

void arena_init(struct arena *a, const char *name, size_t first_chunk_bytes);
/* Memory that is not cleared. arena_alloc, arena_zalloc and arena_array never return NULL: running
 * out of memory ends the process with one line (docs/architecture.md, "Memory"). */
void *arena_alloc(struct arena *a, size_t bytes);
/* Cleared memory. */
void *arena_zalloc(struct arena *a, size_t bytes);
/* n cleared elements. Where n * bytes_each overflows (as for a negative n), memory has run
 * out too. */
void *arena_array(struct arena *a, size_t n, size_t bytes_each);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Appends an item to a list in words: text, ", " and the item; just the item when text is NULL or
 * "". */
char *arena_item(struct arena *a, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes room in a growable array. `item` has n elements and room for *room. Returns `item` while
 * one more fits, otherwise a copy with twice the room. The element after the n is cleared. */
void *arena_grow(struct arena *a, void *item, int n, int *room, size_t bytes_each);

/* Allocate as those above, for sizes that a model or its data set. NULL when memory has run out,
 * which the caller reports as PEAT_NOMEM. */
void *arena_try_alloc(struct arena *a, size_t bytes);
void *arena_try_zalloc(struct arena *a, size_t bytes);
void *arena_try_array(struct arena *a, size_t n, size_t bytes_each);

/*
 * The content of a guard zone. SHOWS_WRITES is 4e-37 as a float and 4e-294 as a double, so that
 * adding a number to it changes it. SHOWS_READS is NaN, which spoils the results of code that reads
 * it.
 */
enum arena_mark_byte { ARENA_SHOWS_WRITES = 0x03, ARENA_SHOWS_READS = 0xff };
/* From now on each block has guard zones: at least so many bytes after it, a few before it, and
 * after all a fence; access to the fence ends the process. For checks of code that may go beyond
 * ends. */
void arena_guard(struct arena *a, size_t bytes, enum arena_mark_byte mark);
/* The owner of the oldest block whose guard zone was written to, "" if it has no name; NULL: all
 * zones are intact. */
const char *arena_overrun(const struct arena *a);

struct arena_mark arena_mark(const struct arena *a);
/* Gives back all memory since the mark. */
void arena_rewind(struct arena *a, struct arena_mark mark);
/* Gives back all memory, but keeps the pages. */
void arena_reset(struct arena *a);
/* Gives the pages back to the system. */
void arena_release(struct arena *a);

#define ARENA_NEW(arena, type)      ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, n, type) ((type *)arena_array((arena), (size_t)(n), sizeof(type)))
#define ARENA_TRY_ARRAY(arena, n, type)                                                            \
    ((type *)arena_try_array((arena), (size_t)(n), sizeof(type)))
/* Appends a cleared element to the n of `item`; its value is the element's address. */
#define ARENA_APPEND(arena, item, n, room)                                                         \
    ((item) = arena_grow((arena), (item), (n), &(room), sizeof(*(item))), &(item)[(n)++])

/* For data that grow without limit, or are freed early: n cleared elements, freed with free().
 * Never NULL, also for n = 0. `what` is named when memory runs out, which ends the process. */
void *mem_array(size_t n, size_t bytes_each, const char *what);
