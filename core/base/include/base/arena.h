/* SPDX-License-Identifier: MIT */
/*
 * arena.h: memory by life span.
 *
 * run (experiment, plugins) > model (parameters, optimiser, tables) > step (nodes, activations,
 * gradients). Memory is handed out by bumping a pointer and given back all at once. Every block is
 * 64-byte aligned. Pages are kept over a reset, so a steady step asks the system for nothing.
 * Under AddressSanitizer what was given back is poisoned.
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
    size_t chunk_bytes; /* size of the next chunk asked from the system */
    size_t used;        /* bytes handed out since the last reset        */
    size_t high_water;  /* most that was ever handed out                */
    size_t guard_bytes;
    unsigned char guard_mark;
    struct arena_guard *guard; /* of the newest block; NULL: none */
    const char *const *owner;  /* who a block is for, at that time; NULL: nobody asks */
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
};

void arena_init(struct arena *a, const char *name, size_t first_chunk_bytes);
/* These never return NULL: running out of memory ends the process with one line
 * (docs/architecture.md, "Memory"). Not cleared: */
void *arena_alloc(struct arena *a, size_t bytes);
/* Cleared: */
void *arena_zalloc(struct arena *a, size_t bytes);
/* n elements, cleared; n * bytes_each that overflows (a negative n does) is out of memory too. */
void *arena_array(struct arena *a, size_t n, size_t bytes_each);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
/* The next item of a list: text, ", " and the item; the item alone when text is NULL or empty. */
char *arena_item(struct arena *a, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The growable array. `item` has n elements and room for *room: given back as it is while there is
 * room for one more, else a copy of twice the room. The element after the n is cleared. */
void *arena_grow(struct arena *a, void *item, int n, int *room, size_t bytes_each);

/* The same for sizes that a model or its data sets: NULL when memory has run out, which the caller
 * reports as PEAT_NOMEM. */
void *arena_try_alloc(struct arena *a, size_t bytes);
void *arena_try_zalloc(struct arena *a, size_t bytes);
void *arena_try_array(struct arena *a, size_t n, size_t bytes_each);

/*
 * The content of a guard zone. SHOWS_WRITES is 4e-37 as a float and 4e-294 as a double, so that
 * adding a number changes it as much as writing one does. SHOWS_READS is NaN, which spoils the
 * results of code that reads it.
 */
enum arena_mark_byte { ARENA_SHOWS_WRITES = 0x03, ARENA_SHOWS_READS = 0xff };
/* From now on each block has at least so many bytes behind it that are nobody's, a few before it,
 * and behind all a fence, which ends who touches it. For checks of code that may go beyond ends. */
void arena_guard(struct arena *a, size_t bytes, enum arena_mark_byte mark);
/* The owner of the oldest block around which something was written ("" when nobody was named);
 * NULL: there is none. */
const char *arena_overrun(const struct arena *a);

struct arena_mark arena_mark(const struct arena *a);
/* Gives back everything handed out since the mark. */
void arena_rewind(struct arena *a, struct arena_mark mark);
/* Gives back everything, keeps the pages. */
void arena_reset(struct arena *a);
/* Gives the pages back to the system. */
void arena_release(struct arena *a);

#define ARENA_NEW(arena, type)      ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, n, type) ((type *)arena_array((arena), (size_t)(n), sizeof(type)))
#define ARENA_TRY_ARRAY(arena, n, type)                                                            \
    ((type *)arena_try_array((arena), (size_t)(n), sizeof(type)))
/* One more element, cleared, behind the n of `item`; its address. */
#define ARENA_APPEND(arena, item, n, room)                                                         \
    ((item) = arena_grow((arena), (item), (n), &(room), sizeof(*(item))), &(item)[(n)++])
