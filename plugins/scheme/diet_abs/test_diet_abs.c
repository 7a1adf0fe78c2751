/* SPDX-License-Identifier: MIT */
/* The scheme 'diet_abs': its products, its rank, its limits and its gradient. */
#include "../scheme_tests.h"

/* Element i of tensor k is sin(1 + i + 10 k); 2 heads, 2 components, positions 0, 2, 1. */
START_TEST(logits_match_the_reference)
{
    const double pos[] = {0, 2, 1};
    const double expected[] = {-1.329367117546615,   0.9562560905347025,  0.28540860424748576,
                               -0.12020745425651991, -0.4348943208634611, 0.4246211218175474,
                               1.1088416726900183,   -0.3988119466249851, -0.5431321467858299,
                               -0.6904001430368004,  0.12476754341126148, 0.4326766004984564,
                               -0.9516960013799608,  -0.831898071937405,  1.3643474948633574,
                               1.2561096689409883,   0.5409144264208249,  -1.3746206939092713};
    struct harness h;
    scheme_open(&h, "diet_abs", "{\"width\": 2}", 2, 4, 3, true);
    scheme_wave(&h);
    peat_node *n = h.scheme->bias(harness_call(&h, 1, 3, 1, pos), NULL);
    scheme_assert(n, 18, expected, 1e-14);
    harness_close(&h);
}
END_TEST

/* One component: every 2 x 2 minor of the logits is 0. */
START_TEST(logits_have_the_rank_of_the_width)
{
    struct harness h;
    scheme_open(&h, "diet_abs", "{\"width\": 1}", 1, 4, 6, false);
    scheme_wave(&h);
    peat_node *n = h.scheme->bias(harness_call(&h, 1, 6, 1, NULL), NULL);
    for (int64_t i = 1; i < 6; i++)
        for (int64_t j = 1; j < 6; j++)
            ck_assert_double_eq_tol(harness_at(n, 0) * harness_at(n, 6 * i + j),
                                    harness_at(n, j) * harness_at(n, 6 * i), 1e-15);
    harness_close(&h);
}
END_TEST

START_TEST(positions_beyond_the_tables_are_refused)
{
    const double pos[] = {0, 3};
    struct harness h;
    scheme_refuses("diet_abs", "{\"max_len\": 5}", 2, 4, 8, true,
                   "learns max_len = 5 positions, but sequences of 8 are evaluated; raise max_len");
    scheme_open(&h, "diet_abs", NULL, 2, 4, 3, true);
    scheme_fails(&h, h.scheme->bias(harness_call(&h, 1, 2, 1, pos), NULL),
                 "position 3 is not one of those learned: max_len is 3");
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_exact)
{
    scheme_gradients("diet_abs", "{\"width\": 3, \"init_std\": 1}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("diet_abs", "{\"init_std\": 1}", PEAT_ENCODER, PEAT_PER_LAYER);
}
END_TEST

PLUGIN_TESTS("diet_abs", logits_match_the_reference, logits_have_the_rank_of_the_width,
             positions_beyond_the_tables_are_refused, gradients_are_exact)
