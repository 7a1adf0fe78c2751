/* SPDX-License-Identifier: MIT */
/* test_share.c: cores and memory among cells, where the user leaves it open. */
#include "grid/share.h"

#include "support/support.h"

enum { GIB = 1 << 30 };

/* jobs, threads given (0: auto); cells, cores, cells that memory has room for; what comes out */
static const struct {
    int64_t jobs, threads, cells, cores, room, want_jobs, want_threads;
} row[] = {
    {0, 1, 100, 8, 100, 8, 1},                            /* a core for each            */
    {0, 0, 100, 8, 100, 8, 1},                            /* cells before threads       */
    {0, 0, 3, 8, 100, 3, 2},                              /* what is left, in threads   */
    {0, 1, 3, 8, 100, 3, 1},                              /* what is given stays        */
    {0, 4, 100, 8, 100, 2, 4},                            /* cores for all threads      */
    {0, 16, 100, 8, 100, 1, 16},                          /* more threads than cores   */
    {2, 0, 100, 8, 100, 2, 4},                            /* threads by given jobs      */
    {16, 0, 3, 8, 100, 16, 2},                            /* of which three run         */
    {16, 0, 100, 8, 100, 16, 1}, {0, 0, 100, 8, 3, 3, 2}, /* memory is the limit        */
    {0, 0, 100, 8, 0, 1, 8},                              /* one has to try             */
    {5, 1, 100, 8, 0, 5, 1},                              /* and what is given stays    */
    {0, 0, 0, 8, 100, 1, 8},                              /* nothing to do              */
};

LOOP_TEST(cores_and_memory_are_shared_out, sizeof(row) / sizeof(*row))
{
    const struct machine m = {.cores = (int)row[_i].cores, .free_bytes = row[_i].room * GIB};
    struct share s =
        share_machine((struct share){row[_i].jobs, row[_i].threads}, row[_i].cells, GIB, &m);
    ck_assert_int_eq(s.jobs, row[_i].want_jobs);
    ck_assert_int_eq(s.threads, row[_i].want_threads);
}

TEST(memory_of_unknown_size_limits_nothing)
{
    const struct machine m = {.cores = 8, .free_bytes = INT64_MAX};
    ck_assert_int_eq(share_machine((struct share){0, 1}, 100, 0, &m).jobs, 8);
}

int main(void)
{
    return run_tests((struct tests){"share", NULL, NULL});
}
