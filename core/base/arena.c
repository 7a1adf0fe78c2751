/* SPDX-License-Identifier: MIT */
/*
 * arena.c: bump allocation over a chain of chunks.
 *
 * Chunks after `current` are always empty. A full chunk is followed by the next kept one that is
 * large enough, or by a new one inserted right there; so a repeated sequence of requests uses the
 * same chunks in the same order and needs no new ones.
 */

#include "base/base.h"
#include <sys/mman.h>

#ifdef BASE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 64 }; /* poisoned bytes after each block */
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
enum { RED_ZONE = 0 };
#endif

enum { ALIGNMENT = 64 };

#define HUGE_PAGE ((size_t)2 << 20)

/* After a guarded block: pages that cannot be read or written. */
#define PAGE  ((size_t)4096)
#define FENCE ((size_t)64 * PAGE)

/* The size of chunks doubles up to this; larger requests get a chunk of their own. */
#define CHUNK_LIMIT ((size_t)256 << 20)

/* No machine has a block as large as this. The limit keeps sums of sizes from overflowing. */
#define BLOCK_LIMIT ((size_t)1 << 39)

struct arena_chunk {
    _Alignas(ALIGNMENT) struct arena_chunk *next;
    size_t room, used; /* of the bytes that follow this header        */
    size_t mapped;     /* bytes of its pages and its fence; 0: no fence */
};

/* The header before a guarded block. */
struct arena_guard {
    _Alignas(ALIGNMENT) struct arena_guard *older;
    unsigned char *zone;
    size_t bytes, used_before;
    const char *owner;
    _Alignas(ALIGNMENT) unsigned char before[ALIGNMENT]; /* guard in front of the block */
};

static unsigned char *chunk_bytes_of(struct arena_chunk *c)
{
    return (unsigned char *)(c + 1);
}

/* Asks for huge pages for large chunks, with which passes over activations miss the TLB far less.
 * The system may decline. */
static void *pages_new(size_t bytes)
{
    if (bytes < 2 * HUGE_PAGE)
        return aligned_alloc(ALIGNMENT, bytes);
    void *pages = NULL;
    if (posix_memalign(&pages, HUGE_PAGE, bytes) != 0)
        return NULL;
    madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

static struct arena_chunk *chunk_new(size_t room)
{
    struct arena_chunk *c = pages_new(sizeof(*c) + room);
    if (!c)
        return NULL;
    *c = (struct arena_chunk){.room = room};
    ASAN_POISON_MEMORY_REGION(chunk_bytes_of(c), room);
    return c;
}

/* The chunk of one guarded block. */
static struct arena_chunk *fenced_new(size_t room)
{
    size_t bytes = (sizeof(struct arena_chunk) + room + PAGE - 1) / PAGE * PAGE;
    struct arena_chunk *c =
        mmap(NULL, bytes + FENCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == MAP_FAILED)
        return NULL;
    if (mprotect(c, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(c, bytes + FENCE);
        return NULL;
    }
    *c = (struct arena_chunk){.room = bytes - sizeof(*c), .mapped = bytes + FENCE};
    ASAN_POISON_MEMORY_REGION(chunk_bytes_of(c), c->room);
    return c;
}

/* Gives back the chunks of a chain, beginning with *first. */
static void chain_free(struct arena_chunk **first)
{
    for (struct arena_chunk *c = *first, *next; c; c = next) {
        next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk_bytes_of(c), c->room);
        if (c->mapped)
            munmap(c, c->mapped);
        else
            free(c);
    }
    *first = NULL;
}

static void chunk_cut(struct arena_chunk *c, size_t used)
{
    ASAN_POISON_MEMORY_REGION(chunk_bytes_of(c) + used, c->used - used);
    c->used = used;
}

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void arena_init(struct arena *a, const char *name, size_t first_chunk_bytes)
{
    if (first_chunk_bytes < ALIGNMENT)
        first_chunk_bytes = ALIGNMENT;
    *a = (struct arena){.name = name, .chunk_bytes = round_up(first_chunk_bytes)};
}

static void chain_insert(struct arena *a, struct arena_chunk *c)
{
    struct arena_chunk **link = a->current ? &a->current->next : &a->first;
    c->next = *link;
    *link = c;
}

static struct arena_chunk *chunk_for(struct arena *a, size_t need)
{
    size_t room = need > a->chunk_bytes ? need : a->chunk_bytes;
    if (a->guard_bytes)
        return fenced_new(need);
    struct arena_chunk *c = chunk_new(room);
    if (!c && room > need)
        c = chunk_new(need);
    if (c && a->chunk_bytes <= CHUNK_LIMIT / 2)
        a->chunk_bytes *= 2;
    return c;
}

/* Makes a chunk with room for `need` bytes the current one. */
static bool next_chunk(struct arena *a, size_t need)
{
    struct arena_chunk *c = a->current ? a->current->next : a->first;
    while (c && c->room < need)
        c = c->next;
    if (!c) {
        c = chunk_for(a, need);
        if (!c)
            return false;
        chain_insert(a, c);
    }
    a->current = c;
    return true;
}

/* | guard | block | zone |, and then the fence. The zone begins where the requested bytes end, and
 * replaces the red zone, because code that writes there may be compiled without the sanitizer. */
static unsigned char *guard_block(struct arena *a, unsigned char *at, size_t bytes)
{
    struct arena_guard *guard = (void *)at;
    unsigned char *block = at + sizeof(*guard);
    ASAN_UNPOISON_MEMORY_REGION(at, sizeof(*guard));
    *guard = (struct arena_guard){.older = a->guard,
                                  .zone = block + bytes,
                                  .bytes = a->current->room - sizeof(*guard) - bytes,
                                  .used_before = a->used,
                                  .owner = a->owner && *a->owner ? *a->owner : ""};
    ASAN_UNPOISON_MEMORY_REGION(guard->zone, guard->bytes);
    memset(guard->zone, a->guard_mark, guard->bytes);
    memset(guard->before, a->guard_mark, sizeof(guard->before));
    a->guard = guard;
    return block;
}

static bool is_marked(const struct arena *a, const unsigned char *zone, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (zone[i] != a->guard_mark)
            return false;
    return true;
}

void arena_guard(struct arena *a, size_t bytes, enum arena_mark_byte mark)
{
    a->guard_bytes = round_up(bytes);
    a->guard_mark = (unsigned char)mark;
}

const char *arena_overrun(const struct arena *a)
{
    const char *owner = NULL;
    for (const struct arena_guard *g = a->guard; g; g = g->older)
        if (!is_marked(a, g->zone, g->bytes) || !is_marked(a, g->before, sizeof(g->before)))
            owner = g->owner;
    return owner;
}

void *arena_try_alloc(struct arena *a, size_t bytes)
{
    if (bytes > BLOCK_LIMIT)
        return NULL;
    size_t size = bytes ? round_up(bytes) : ALIGNMENT;
    size_t need = size + RED_ZONE;
    if (a->guard_bytes)
        need += sizeof(struct arena_guard) + a->guard_bytes;
    bool fits = a->current && !a->guard_bytes && a->current->room - a->current->used >= need;
    if (!fits && !next_chunk(a, need))
        return NULL;
    unsigned char *block = chunk_bytes_of(a->current) + a->current->used;
    if (a->guard_bytes)
        block = guard_block(a, block, bytes);
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    a->current->used += need;
    a->used += size;
    if (a->used > a->high_water)
        a->high_water = a->used;
    return block;
}

void *arena_try_zalloc(struct arena *a, size_t bytes)
{
    void *block = arena_try_alloc(a, bytes);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void *arena_try_array(struct arena *a, size_t n, size_t bytes_each)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, bytes_each, &bytes))
        return NULL;
    return arena_try_zalloc(a, bytes);
}

static void *or_end(const struct arena *a, void *block)
{
    if (!block)
        out_of_memory(a->name);
    return block;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    return or_end(a, arena_try_alloc(a, bytes));
}

void *arena_zalloc(struct arena *a, size_t bytes)
{
    return or_end(a, arena_try_zalloc(a, bytes));
}

void *arena_array(struct arena *a, size_t n, size_t bytes_each)
{
    return or_end(a, arena_try_array(a, n, bytes_each));
}

void *arena_grow(struct arena *a, void *item, int n, int *room, size_t bytes_each)
{
    enum { FIRST_ROOM = 8 };
    if (n < *room)
        return item;
    *room = *room ? 2 * *room : FIRST_ROOM;
    void *larger = arena_array(a, (size_t)*room, bytes_each);
    if (n)
        memcpy(larger, item, (size_t)n * bytes_each);
    return larger;
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(arena_alloc(a, bytes), text, bytes);
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0)
        BUG("format '%s' failed", fmt);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = arena_vprintf(a, fmt, args);
    va_end(args);
    return text;
}

char *arena_item(struct arena *a, const char *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *item = arena_vprintf(a, fmt, args);
    va_end(args);
    return text && *text ? arena_printf(a, "%s, %s", text, item) : item;
}

struct arena_mark arena_mark(const struct arena *a)
{
    size_t chunk_used = a->current ? a->current->used : 0;
    return (struct arena_mark){a->current, chunk_used, a->used};
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    BUG_UNLESS(mark.used <= a->used);
    while (a->guard && a->guard->used_before >= mark.used)
        a->guard = a->guard->older;
    if (mark.chunk)
        chunk_cut(mark.chunk, mark.chunk_used);
    struct arena_chunk **later = mark.chunk ? &mark.chunk->next : &a->first;
    for (struct arena_chunk *c = *later; c; c = c->next)
        chunk_cut(c, 0);
    if (a->guard_bytes)
        chain_free(later);
    a->current = mark.chunk;
    a->used = mark.used;
}

void arena_reset(struct arena *a)
{
    arena_rewind(a, (struct arena_mark){0});
}

void arena_release(struct arena *a)
{
    chain_free(&a->first);
    a->current = NULL;
    a->guard = NULL;
    a->used = 0;
}

void *mem_array(size_t n, size_t bytes_each, const char *what)
{
    void *block = calloc(n ? n : 1, bytes_each);
    if (!block)
        out_of_memory(what);
    return block;
}
