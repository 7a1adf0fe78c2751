/* SPDX-License-Identifier: MIT */
/* The combination 'concat_project'. */
#include "../combine_tests.h"

TEST(every_stream_is_as_wide_as_the_model_unless_told)
{
    combine_widths("concat_project", NULL, 64, 4, 2, (int64_t[]){0, 0}, (int64_t[]){64, 64}, 64);
    combine_widths("concat_project", "{\"d_pos\": 7}", 64, 4, 3, (int64_t[]){0, 0, 5},
                   (int64_t[]){64, 7, 5}, 64);
}

TEST(the_matrix_acts_on_the_streams_side_by_side)
{
    struct harness h;
    const double weight[] = {1, 2, 3, -4, 5, -6}, bias[] = {100, 200};
    combine_open(&h, "concat_project", "{\"d_pos\": 1}", 2, 2);
    for (int64_t i = 0; i < 6; i++)
        tensor_set(&h.weights.item[0]->value, i, weight[i]);
    for (int64_t i = 0; i < 2; i++)
        tensor_set(&h.weights.item[1]->value, i, bias[i]);
    combine_gives(combine_merge(&h, 1, (double[]){10}), 1, 2, (double[]){135, 146, 141, 148});
    harness_close(&h);
}

TEST(parameters_are_counted_and_start_at_their_scale)
{
    struct harness h;
    double squares = 0;
    combine_open(&h, "concat_project", NULL, 64, 2);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 64 * 64 + 64);
    for (int64_t i = 0; i < 2 * 64 * 64; i++)
        squares += pow(tensor_get(&h.weights.item[0]->value, i), 2);
    ck_assert_double_eq_tol(squares / 64, 1, 0.1);
    harness_close(&h);
    ck_assert_int_eq(combine_parameters("concat_project", "{\"bias\": false}", 64, 2), 2 * 64 * 64);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("concat_project", NULL, 4, 3);
    combine_gradients("concat_project", "{\"bias\": false, \"d_pos\": 2}", 4, 3);
}

PLUGIN_TESTS("concat_project")
