/* SPDX-License-Identifier: MIT */
/* The combination 'sum'. */
#include "../combine_tests.h"

TEST(streams_are_added)
{
    combine_gives_small("sum", NULL, (double[]){11, -18, 13, -16});
}

TEST(scales_multiply_tokens_and_positions)
{
    combine_gives_small("sum", "{\"token_scale\": 2, \"position_scale\": 0.5}",
                        (double[]){7, -6, 11, -2});
}

TEST(learned_scales_start_at_the_given_ones_and_do_not_decay)
{
    const char *json = "{\"token_scale\": 2, \"position_scale\": 0.5, \"learned\": true}";
    struct harness h;
    combine_gives_small("sum", json, (double[]){7, -6, 11, -2});
    combine_open(&h, "sum", json, 2, 2);
    ck_assert_int_eq(h.weights.n, 2);
    ck_assert_str_eq(h.weights.item[0]->name, "sum.token");
    ck_assert_str_eq(h.weights.item[1]->name, "sum.position");
    ck_assert(!h.weights.item[0]->decay && !h.weights.item[1]->decay);
    harness_close(&h);
}

TEST(factors_per_dimension_are_trained_one_by_one)
{
    const char *json = "{\"learned\": true, \"per_dimension\": true}";
    struct harness h;
    combine_gives_small("sum", json, (double[]){11, -18, 13, -16});
    combine_open(&h, "sum", json, 2, 2);
    ck_assert_int_eq(weights_trainable(&h.weights), 4);
    tensor_set(&h.weights.item[1]->value, 1, 0.5);
    combine_gives(combine_merge(&h, 2, (double[]){10, -20}), 1, 2, (double[]){11, -8, 13, -6});
    harness_close(&h);
}

TEST(factors_per_dimension_must_be_learned)
{
    combine_refuses("sum", "{\"per_dimension\": true}", 2, 1, 2, (int64_t[]){0, 0},
                    "per_dimension is about learned factors: set learned to true");
}

/* Without a position to add, all combinations are the same model. */
TEST(a_single_stream_passes_unchanged)
{
    struct harness h;
    combine_open(&h, "sum", "{\"token_scale\": 2, \"learned\": true}", 2, 1);
    ck_assert_int_eq(h.weights.n, 0);
    const peat_call *c = harness_call(&h, 1, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){1, 1, 2}, (double[]){1, 2});
    ck_assert_ptr_eq(h.combine->merge(c, 1, &x), x);
    harness_close(&h);
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("sum");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("sum", NULL, 6, 3);
    combine_gradients("sum", "{\"token_scale\": 2, \"position_scale\": -3}", 6, 3);
    combine_gradients("sum", "{\"learned\": true}", 6, 3);
    combine_gradients("sum", "{\"learned\": true, \"per_dimension\": true}", 6, 3);
}

PLUGIN_TESTS("sum")
