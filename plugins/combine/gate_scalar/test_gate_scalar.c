/* SPDX-License-Identifier: MIT */
/* The combination 'gate_scalar'. */
#include "../combine_tests.h"

/* w_t = (1, 0), w_p = (0, 0.1), b = 2: scores 1 - 2 + 2 and 3 - 2 + 2. */
TEST(the_gate_mixes_token_and_position)
{
    struct harness h;
    const double value[] = {1, 0, 0, 0.1, 2}, x[] = {1, 2, 3, 4}, p[] = {10, -20};
    combine_open_as(&h, "gate_scalar", NULL, 2, 1, 2, (int64_t[]){0, 0}, (int64_t[]){2, 2}, 2);
    for (int64_t i = 0; i < 5; i++)
        tensor_set(&h.weights.item[i / 2]->value, i % 2, value[i]);
    peat_node *y = combine_merge(&h, 2, p);
    double mixed[4];
    for (int64_t b = 0; b < 2; b++) {
        double gate = 1 / (1 + exp(b == 0 ? -1.0 : -3.0));
        ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, b), gate, 1e-14);
        for (int64_t i = 0; i < 2; i++)
            mixed[2 * b + i] = gate * x[2 * b + i] + (1 - gate) * p[i];
    }
    combine_gives(y, 1, 2, mixed);
    harness_close(&h);
}

TEST(it_has_2d_plus_1_parameters)
{
    ck_assert_int_eq(combine_parameters("gate_scalar", NULL, 32, 2), 65);
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("gate_scalar");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("gate_scalar", NULL, 6, 3);
}

PLUGIN_TESTS("gate_scalar")
