/* SPDX-License-Identifier: MIT */
/* Saying things once. */
#include "support/support.h"

TEST(the_first_of_equal_texts_counts_them_all)
{
    const char *const text[] = {NULL, "a", "b", "a", NULL, "a"};
    const int times[] = {0, 3, 1, 0, 0, 0};
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(times_said(text, 6, i), times[i]);
}

TEST(a_name_stands_for_the_others)
{
    struct arena a;
    arena_init(&a, "test", 256);
    ck_assert_str_eq(name_and_more(&a, "x", "row", 1), "x");
    ck_assert_str_eq(name_and_more(&a, "x", "row", 2), "x and 1 more row");
    ck_assert_str_eq(name_and_more(&a, "x", "cell", 3), "x and 2 more cells");
    ck_assert_str_eq(name_and_more(&a, "x", "row", 4), "x and 3 more rows");
    arena_release(&a);
}

int main(void)
{
    return run_tests((struct tests){"repeat"});
}
