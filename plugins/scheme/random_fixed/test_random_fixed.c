/* SPDX-License-Identifier: MIT */
/* The scheme 'random_fixed': its statistics, its constancy and its limits. */
#include "../scheme_tests.h"

static void assert_moments(const char *json, double std, double fourth)
{
    struct harness h;
    scheme_open(&h, "random_fixed", json, 1, 64, 400, true);
    peat_node *n = h.scheme->encode(harness_call(&h, 1, 400, 1, NULL));
    double count = (double)tensor_count(&n->value), sum = 0, squares = 0, fourths = 0;
    for (int64_t i = 0; i < tensor_count(&n->value); i++) {
        double x = harness_at(n, i) / std;
        sum += x;
        squares += x * x;
        fourths += x * x * x * x;
    }
    ck_assert_double_eq_tol(sum / count, 0, 0.03);
    ck_assert_double_eq_tol(squares / count, 1, 0.03);
    ck_assert_double_eq_tol(fourths / count, fourth, 0.1 * fourth);
    harness_close(&h);
}

TEST(vectors_have_the_distribution_asked_for)
{
    assert_moments(NULL, sqrt(0.5), 3);
    assert_moments("{\"distribution\": \"uniform\", \"std\": 0.1}", 0.1, 1.8);
}

TEST(a_position_has_the_same_vector_wherever_it_stands)
{
    const double pos[] = {5, 0, 5};
    struct harness h;
    scheme_open(&h, "random_fixed", NULL, 1, 8, 6, true);
    peat_node *n = h.scheme->encode(harness_call(&h, 1, 3, 1, pos));
    double moved = 0;
    for (int64_t i = 0; i < 8; i++) {
        ck_assert_double_eq(harness_at(n, i), harness_at(n, 16 + i));
        moved = fmax(moved, fabs(harness_at(n, i) - harness_at(n, 8 + i)));
    }
    ck_assert_double_gt(moved, 0.1);
    harness_close(&h);
}

TEST(nothing_is_trained)
{
    struct harness h;
    scheme_open(&h, "random_fixed", NULL, 1, 8, 6, true);
    ck_assert_int_eq(h.weights.n, 1);
    ck_assert(h.weights.item[0]->frozen);
    harness_close(&h);
}

TEST(positions_without_a_vector_are_refused)
{
    const double pos[] = {0, 6};
    struct harness h;
    scheme_refuses("random_fixed", "{\"max_len\": 5}", 1, 8, 6, true,
                   "has vectors for max_len = 5 positions, but sequences of 6 are evaluated; raise "
                   "max_len");
    scheme_open(&h, "random_fixed", NULL, 1, 8, 6, true);
    scheme_fails(&h, h.scheme->encode(harness_call(&h, 1, 2, 1, pos)),
                 "position 6 has no vector: max_len is 6");
    harness_close(&h);
}

TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("random_fixed", NULL, PEAT_DECODER, PEAT_ONCE);
}

PLUGIN_TESTS("random_fixed")
