/* SPDX-License-Identifier: MIT */
/* test_arena.c: memory by life span. */
#include "support/support.h"

#ifdef BASE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

static struct arena a;

static void set_up(void)
{
    arena_init(&a, "test", 256);
}

static void tear_down(void)
{
    arena_release(&a);
}

TEST(blocks_are_aligned_and_apart)
{
    unsigned char *last = NULL;
    for (size_t bytes = 0; bytes < 300; bytes++) {
        unsigned char *block = arena_alloc(&a, bytes);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 64, 0);
        ck_assert_ptr_ne(block, last);
        memset(block, (int)(bytes & 0xff), bytes);
        if (last)
            for (size_t i = 0; i + 1 < bytes; i++)
                ck_assert_uint_eq(last[i], (bytes - 1) & 0xff);
        last = block;
    }
}

TEST(large_blocks_are_whole)
{
    for (size_t bytes = 1 << 20; bytes <= (size_t)16 << 20; bytes = 2 * bytes + 1) {
        unsigned char *block = arena_alloc(&a, bytes);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 64, 0);
        block[0] = block[bytes - 1] = 1;
    }
}

TEST(zalloc_clears_reused_memory)
{
    arena_init(&a, "test", 1024);
    memset(arena_alloc(&a, 200), 0xff, 200);
    arena_reset(&a);
    const unsigned char *block = arena_zalloc(&a, 200);
    for (int i = 0; i < 200; i++)
        ck_assert_uint_eq(block[i], 0);
}

/* A mixed load that spills over several chunks and skips some on the way. */
static void load(void **block, int n)
{
    for (int i = 0; i < n; i++) {
        size_t bytes = i % 7 == 3 ? 5000 + 400 * (size_t)i : 30 + 11 * (size_t)i;
        block[i] = arena_alloc(&a, bytes);
        ck_assert_ptr_nonnull(block[i]);
    }
}

TEST(reset_reuses_the_same_pages)
{
    enum { BLOCKS = 100 };
    void *first[BLOCKS], *again[BLOCKS];
    arena_init(&a, "test", 512);
    load(first, BLOCKS);
    size_t high = a.high_water, next_chunk = a.chunk_bytes;
    for (int pass = 0; pass < 100; pass++) {
        arena_reset(&a);
        ck_assert_uint_eq(a.used, 0);
        load(again, BLOCKS);
        ck_assert_mem_eq(first, again, sizeof(first));
    }
    ck_assert_uint_eq(a.high_water, high);
    ck_assert_uint_eq(a.chunk_bytes, next_chunk);
}

TEST(rewind_gives_back_what_came_after_the_mark)
{
    char *kept = arena_strdup(&a, "kept");
    struct arena_mark mark = arena_mark(&a);
    void *first = arena_alloc(&a, 100);
    ck_assert_ptr_nonnull(arena_alloc(&a, 10000));
    size_t high = a.high_water;
    arena_rewind(&a, mark);
    ck_assert_uint_eq(a.used, mark.used);
    ck_assert_uint_eq(a.high_water, high);
    ck_assert_ptr_eq(arena_alloc(&a, 100), first);
    ck_assert_str_eq(kept, "kept");
}

TEST(mark_of_an_empty_arena_rewinds_to_empty)
{
    struct arena_mark mark = arena_mark(&a);
    void *first = arena_alloc(&a, 100);
    arena_rewind(&a, mark);
    ck_assert_uint_eq(a.used, 0);
    ck_assert_ptr_eq(arena_alloc(&a, 100), first);
}

TEST(high_water_is_the_most_ever_used)
{
    arena_init(&a, "test", 4096);
    arena_alloc(&a, 640);
    arena_reset(&a);
    arena_alloc(&a, 64);
    ck_assert_uint_eq(a.used, 64);
    ck_assert_uint_eq(a.high_water, 640);
}

TEST(impossible_sizes_give_null_and_leave_the_arena_usable)
{
    int64_t negative = -1;
    ck_assert_ptr_null(arena_try_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(arena_try_alloc(&a, SIZE_MAX / 2));
    ck_assert_ptr_null(ARENA_TRY_ARRAY(&a, negative, double));
    ck_assert_ptr_null(ARENA_TRY_ARRAY(&a, SIZE_MAX / 4, double));
    ck_assert_uint_eq(a.used, 0);
    ck_assert_ptr_nonnull(arena_alloc(&a, 10));
}

TEST(released_arena_can_be_used_again)
{
    arena_alloc(&a, 1000);
    arena_release(&a);
    ck_assert_str_eq(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
}

#ifdef BASE_ADDRESS_SANITIZER
TEST(given_back_memory_is_poisoned)
{
    arena_init(&a, "test", 4096);
    char *before = arena_alloc(&a, 100);
    ck_assert(!__asan_address_is_poisoned(before + 99));
    ck_assert(__asan_address_is_poisoned(before + 100));
    struct arena_mark mark = arena_mark(&a);
    char *after = arena_alloc(&a, 64);
    ck_assert(!__asan_address_is_poisoned(after + 63));
    ck_assert(__asan_address_is_poisoned(after + 64));
    arena_rewind(&a, mark);
    ck_assert(__asan_address_is_poisoned(after));
    ck_assert(!__asan_address_is_poisoned(before));
    arena_reset(&a);
    ck_assert(__asan_address_is_poisoned(before));
}
#endif

int main(void)
{
    return run_tests((struct tests){"arena", set_up, tear_down});
}
