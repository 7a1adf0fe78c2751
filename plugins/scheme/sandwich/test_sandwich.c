/* SPDX-License-Identifier: MIT */
/* The scheme 'sandwich' against products of computed encodings. */
#include "../scheme_tests.h"

/* PE(p) . PE(p + d) of d = 128, as the scheme 'sinusoidal' has it, for the first of 8 heads. */
START_TEST(the_first_of_eight_heads_has_the_product_of_two_encodings)
{
    const double delta[] = {0, -1, 2, -4, 8, -16, 32, -64, 128};
    const double expected[] = {64.0,
                               62.093683805767625,
                               57.38186055282377,
                               48.58603046467245,
                               45.72051406698772,
                               39.70165387936216,
                               35.67781452943977,
                               30.520059008103473,
                               21.298840407622095};
    struct harness h;
    scheme_open(&h, "sandwich", NULL, 8, 4, 8, false);
    peat_node *n = scheme_bias_rel(&h, 9, delta);
    for (int64_t i = 0; i < 9; i++)
        for (int64_t head = 0; head < 8; head++)
            ck_assert_double_eq_tol(harness_at(n, head * 9 + i), expected[i] / (double)(head + 1),
                                    1e-12);
    harness_close(&h);
}
END_TEST

START_TEST(width_and_base_and_heads_match_the_reference)
{
    const double delta[] = {0, -1, -3, 7};
    const double expected[] = {1.125,  0.9435401126546106, 0.2994852839629014, 0.6615871167306913,
                               0.5625, 0.4717700563273053, 0.1497426419814507, 0.33079355836534563,
                               0.375,  0.3145133708848702, 0.0998284279876338, 0.2205290389102304};
    struct harness h;
    scheme_open(&h, "sandwich", "{\"width\": 6, \"base\": 100}", 3, 4, 8, true);
    scheme_assert(scheme_bias_rel(&h, 4, delta), 12, expected, 1e-14);
    harness_close(&h);
}
END_TEST

START_TEST(an_odd_width_is_refused)
{
    scheme_refuses("sandwich", "{\"width\": 7}", 2, 4, 8, true,
                   "width = 7 must be even: pairs of sine and cosine");
}
END_TEST

START_TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("sandwich", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("sandwich", NULL, PEAT_ENCODER, PEAT_ONCE);
}
END_TEST

PLUGIN_TESTS("sandwich", the_first_of_eight_heads_has_the_product_of_two_encodings,
             width_and_base_and_heads_match_the_reference, an_odd_width_is_refused,
             gradients_of_the_model_around_it_are_exact)
