/* SPDX-License-Identifier: MIT */
/* The combination 'sum_project'. */
#include "../combine_tests.h"

TEST(every_stream_is_as_wide_as_the_model)
{
    combine_widths("sum_project", NULL, 64, 4, 3, (int64_t[]){0, 0, 64}, (int64_t[]){64, 64, 64},
                   64);
}

TEST(the_matrix_acts_on_the_sum)
{
    struct harness h;
    const double weight[] = {1, 2, -4, 5}, bias[] = {100, 200};
    combine_open(&h, "sum_project", "{\"position_scale\": 3}", 2, 2);
    for (int64_t i = 0; i < 4; i++)
        tensor_set(&h.weights.item[0]->value, i, weight[i]);
    for (int64_t i = 0; i < 2; i++)
        tensor_set(&h.weights.item[1]->value, i, bias[i]);
    /* tokens (1, 2) and (3, 4), position (10, 20): sums (31, 62) and (33, 64) */
    combine_gives(combine_merge(&h, 2, (double[]){10, 20}), 1, 2, (double[]){255, 386, 261, 388});
    harness_close(&h);
}

TEST(parameters_are_counted)
{
    ck_assert_int_eq(combine_parameters("sum_project", NULL, 64, 2), 64 * 64 + 64);
    ck_assert_int_eq(combine_parameters("sum_project", "{\"bias\": false}", 64, 2), 64 * 64);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("sum_project", NULL, 4, 3);
    combine_gradients("sum_project", "{\"bias\": false, \"position_scale\": -2}", 4, 3);
}

PLUGIN_TESTS("sum_project")
