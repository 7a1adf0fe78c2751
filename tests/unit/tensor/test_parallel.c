/* SPDX-License-Identifier: MIT */
/*
 * test_parallel.c: a build with ThreadSanitizer sees a race between tiles, and takes what
 * parallel_for orders for no race. This program runs itself with the work to be watched.
 */
#include "tensor/parallel.h"

#include "support/shell.h"
#include "support/support.h"

enum { TILES = 64, RACE = 66 /* ThreadSanitizer's exit status */ };

struct work {
    int own[TILES]; /* each written by its tile alone */
    int common;     /* written by all */
};

static void write_own(void *ctx, int64_t tile)
{
    ((struct work *)ctx)->own[tile]++;
}

static void write_common(void *ctx, int64_t tile)
{
    (void)tile;
    ((struct work *)ctx)->common++;
}

/* Tile t of the second region reads what another thread wrote in the first. */
static void read_other(void *ctx, int64_t tile)
{
    struct work *w = ctx;
    w->own[tile] += w->own[tile] > 0;
}

static void mirror(void *ctx, int64_t tile)
{
    write_own(ctx, TILES - 1 - tile);
}

static void race(void)
{
    struct team team = {2, NULL};
    struct work w = {.common = 0};
    parallel_for(&team, TILES, write_common, &w);
}

static int keep_order(void)
{
    struct team team = {2, NULL};
    struct work w = {.common = 1};
    parallel_for(&team, TILES, write_own, &w);
    parallel_for(&team, TILES, mirror, &w);
    parallel_for(&team, TILES, read_other, &w);
    int sum = w.common;
    for (int i = 0; i < TILES; i++)
        sum += w.own[i];
    return sum == 3 * TILES + 1 ? 0 : 1;
}

static int run_self(const char *what)
{
    char self[512] = "";
    ck_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    return shell_run("'%s' %s", self, what);
}

TEST(a_race_between_tiles_ends_a_build_with_threadsanitizer)
{
#ifdef BASE_THREAD_SANITIZER
    ck_assert_int_eq(run_self("race"), RACE);
#else
    ck_assert_int_eq(run_self("race"), 0);
#endif
}

TEST(what_one_region_writes_the_next_may_read)
{
    ck_assert_msg(run_self("order") == 0, "%s", shell.printed.text);
}

int main(int argc, char **argv)
{
    parallel_start();
    if (argc > 1 && !strcmp(argv[1], "race"))
        return race(), 0;
    if (argc > 1 && !strcmp(argv[1], "order"))
        return keep_order();
    return run_tests((struct tests){"parallel", shell_open, shell_close});
}
