/* SPDX-License-Identifier: MIT */
/* The scheme 'diet_abs': its products, its rank, its limits and its gradient. */
#include "../scheme_tests.h"

/* Element i of tensor k is sin(1 + i + 10 k); 2 heads, 2 components, positions 0, 2, 1. */
/* One component: every 2 x 2 minor of the logits is 0. */
TEST(logits_have_the_rank_of_the_width)
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

TEST(positions_beyond_the_tables_are_refused)
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

TEST(gradients_are_exact)
{
    scheme_gradients("diet_abs", "{\"width\": 3, \"init_std\": 1}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("diet_abs", "{\"init_std\": 1}", PEAT_ENCODER, PEAT_PER_LAYER);
}

PLUGIN_TESTS("diet_abs")
