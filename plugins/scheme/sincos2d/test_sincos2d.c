/* SPDX-License-Identifier: MIT */
/* The scheme 'sincos2d': rows, columns and what it refuses. */
#include "../grid_tests.h"
#include "../scheme_tests.h"

static peat_node *rows(struct harness *h, int64_t n, const double *pos)
{
    scheme_open(h, "sincos2d", "{\"columns\": 3}", 1, 8, 4, false);
    return h->scheme->encode(harness_call(h, 1, n, 1, pos));
}

/* Place 5 of a grid of 3 columns is column 2 of row 1. */
TEST(a_line_shares_the_first_half_and_a_column_the_second)
{
    const double pos[] = {3, 4, 5, 1, 7};
    struct harness h;
    peat_node *n = rows(&h, 5, pos);
    for (int64_t i = 0; i < 4; i++) {
        ck_assert_double_eq(harness_at(n, i), harness_at(n, 8 + i));
        ck_assert_double_eq(harness_at(n, i), harness_at(n, 16 + i));
        ck_assert_double_eq(harness_at(n, 12 + i), harness_at(n, 28 + i));
        ck_assert_double_eq(harness_at(n, 12 + i), harness_at(n, 36 + i));
    }
    ck_assert_double_ne(harness_at(n, 0), harness_at(n, 24));
    ck_assert_double_ne(harness_at(n, 4), harness_at(n, 12));
    harness_close(&h);
}

TEST(widths_without_quarters_are_refused)
{
    scheme_refuses("sincos2d", "{\"columns\": 3}", 1, 6, 4, false,
                   "a width of 6 does not split into sine and cosine of two axes: make it a "
                   "multiple of 4");
}

TEST(the_grid_is_of_the_data_or_square)
{
    grid_is_of_the_data_or_square("sincos2d");
}

TEST(gradients_are_exact)
{
    scheme_gradients("sincos2d", "{\"columns\": 2}", PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("sincos2d")
