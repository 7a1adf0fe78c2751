/* SPDX-License-Identifier: MIT */
/* The scheme 'fourier' against computed features; its start and gradient. */
#include "../scheme_tests.h"

enum { WIDTH = 3, T = 4 };

/* Element i of tensor k is sin(1 + i + 10 k); positions 0 .. 3. */
TEST(the_network_of_features_matches_the_reference)
{
    const double expected[] = {-0.24728117839850794, -0.7579245643775185,  -0.5717356012160493,
                               -0.35556347832316837, -0.6803861062832453,  -0.3796648858877969,
                               -0.4596370979535368,  -0.5542193349455166,  -0.1392548713020022,
                               -0.5992101252927292,  -0.35964441407740233, 0.21057671285549617};
    struct harness h;
    scheme_open(&h, "fourier", "{\"features\": 4, \"hidden\": 2}", 1, WIDTH, T, true);
    scheme_wave(&h);
    scheme_assert(h.scheme->encode(harness_call(&h, 1, T, 1, NULL)), WIDTH * T, expected, 1e-14);
    harness_close(&h);
}

TEST(without_a_network_it_starts_as_the_fixed_sines_and_cosines)
{
    struct harness h;
    scheme_open(&h, "fourier", "{\"hidden\": 0}", 1, 8, T, true);
    ck_assert_int_eq(h.weights.n, 1);
    peat_node *n = h.scheme->encode(harness_call(&h, 1, T, 1, NULL));
    for (int64_t p = 0; p < T; p++)
        for (int64_t i = 0; i < 4; i++) {
            double angle = (double)p * pow(10, -(double)i);
            ck_assert_double_eq_tol(harness_at(n, 8 * p + i), cos(angle), 1e-14);
            ck_assert_double_eq_tol(harness_at(n, 8 * p + 4 + i), sin(angle), 1e-14);
        }
    harness_close(&h);
}

TEST(normal_frequencies_have_the_deviation_of_one_over_gamma)
{
    struct harness h;
    double squares = 0;
    scheme_open(&h, "fourier",
                "{\"frequencies\": \"normal\", \"gamma\": 5, \"features\": 8000, \"hidden\": 1}", 1,
                8, T, true);
    for (int64_t i = 0; i < 4000; i++)
        squares += pow(tensor_get(&h.weights.item[0]->value, i), 2);
    ck_assert_double_eq_tol(sqrt(squares / 4000), 0.2, 0.01);
    harness_close(&h);
}

TEST(widths_that_do_not_fit_are_refused)
{
    scheme_refuses("fourier", "{\"features\": 5}", 1, 8, T, true,
                   "features = 5 must be even: pairs of cosine and sine");
    scheme_refuses("fourier", "{\"hidden\": 0}", 1, 7, T, true,
                   "without a network the stream is the features: make features its width, 7, "
                   "which must be even, or hidden above 0");
}

TEST(gradients_are_exact)
{
    static const char *const json[] = {NULL, "{\"hidden\": 0}",
                                       "{\"frequencies\": \"normal\", \"hidden\": 3}"};
    for (int i = 0; i < 3; i++) {
        struct harness h;
        scheme_open(&h, "fourier", json[i], 1, 8, 5, true);
        harness_gradcheck_encode(&h, 5, NULL);
        harness_close(&h);
    }
    scheme_gradients("fourier", NULL, PEAT_DECODER, PEAT_ONCE);
}

PLUGIN_TESTS("fourier")
