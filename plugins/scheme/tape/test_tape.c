/* SPDX-License-Identifier: MIT */
/* The scheme 'tape': what its length does. */
#include "../scheme_tests.h"

static peat_node *table(struct harness *h, const char *json, int64_t d, int64_t T)
{
    scheme_open(h, "tape", json, 1, d, T, true);
    return h->scheme->encode(harness_call(h, 1, T, 1, NULL));
}

/* Rows 0 .. 3 of width 5 for a length of 20. */
/* Where the width equals the length the factor is 1. */
TEST(a_length_of_the_width_gives_the_sinusoid)
{
    struct harness h;
    peat_node *n = table(&h, NULL, 8, 8);
    for (int64_t p = 0; p < 8; p++)
        for (int64_t i = 0; i < 4; i++) {
            double angle = (double)p * pow(10, -(double)i);
            ck_assert_double_eq_tol(harness_at(n, 8 * p + 2 * i), sin(angle), 1e-15);
            ck_assert_double_eq_tol(harness_at(n, 8 * p + 2 * i + 1), cos(angle), 1e-15);
        }
    harness_close(&h);
}

/* Position p of a length L has the row of position 2p of a length 2L. */
TEST(rows_depend_on_the_place_in_the_length)
{
    struct harness a, b;
    peat_node *x = table(&a, "{\"length\": 16}", 6, 8), *y = table(&b, "{\"length\": 32}", 6, 16);
    for (int64_t p = 0; p < 8; p++)
        for (int64_t i = 0; i < 6; i++)
            ck_assert_double_eq_tol(harness_at(x, 6 * p + i), harness_at(y, 12 * p + i), 1e-14);
    harness_close(&a);
    harness_close(&b);
}

TEST(a_width_of_one_is_refused)
{
    scheme_refuses("tape", NULL, 1, 1, 8, true, "a width of 1 holds no pair of sine and cosine");
}

TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("tape", NULL, PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("tape")
