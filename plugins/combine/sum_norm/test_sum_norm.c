/* SPDX-License-Identifier: MIT */
/* The combination 'sum_norm'. Reference values: its formula, computed once. */
#include "../combine_tests.h"

static const double sum_norm_values[] = {
    0.2113379534315143,    -0.11341283220010416, 0.8529978564463863,  -0.4878941125079567,
    -1.4212630929949859,   0.0684385910829155,   0.6684385910829155,  -1.021263092994986,
    -0.012627912681066555, -0.3109616932864942,  0.4502777032324287,  -0.0963461022378353,
    -0.7653953539259913,   -0.27565892320998564, 0.32434107679001434, -0.3653953539259914};

TEST(the_sum_is_normalised)
{
    struct harness h;
    combine_open(&h, "sum_norm", "{\"eps\": 0.01}", 4, 2);
    combine_fill(&h, 0, 2, 5);
    combine_fill(&h, 1, 3, 5);
    combine_gives(combine_merge_ramps(&h, 2, 1, NULL), 2, 4, sum_norm_values);
    harness_close(&h);
}

TEST(the_norm_does_not_decay)
{
    struct harness h;
    combine_open(&h, "sum_norm", NULL, 4, 2);
    ck_assert_int_eq(h.weights.n, 2);
    ck_assert(!h.weights.item[0]->decay && !h.weights.item[1]->decay);
    ck_assert_double_eq(tensor_get(&h.weights.item[0]->value, 3), 1);
    ck_assert_double_eq(tensor_get(&h.weights.item[1]->value, 3), 0);
    harness_close(&h);
}

TEST(tokens_alone_are_normalised_too)
{
    struct harness h;
    combine_open(&h, "sum_norm", NULL, 4, 1);
    const peat_node *y = combine_merge_ramps(&h, 1, 1, NULL);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 4; i++) {
        sum += harness_at(y, i);
        squares += harness_at(y, i) * harness_at(y, i);
    }
    ck_assert_double_eq_tol(sum, 0, 1e-13);
    ck_assert_double_eq_tol(squares, 4, 1e-9);
    harness_close(&h);
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("sum_norm");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("sum_norm", NULL, 4, 3);
    combine_gradients("sum_norm", "{\"eps\": 0.5}", 4, 3);
}

PLUGIN_TESTS("sum_norm")
