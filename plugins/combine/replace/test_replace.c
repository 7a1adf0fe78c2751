/* SPDX-License-Identifier: MIT */
/* The combination 'replace'. */
#include "../combine_tests.h"

TEST(position_is_all_that_is_left)
{
    struct harness h;
    double expected[16];
    for (int64_t i = 0; i < 16; i++)
        expected[i] = combine_ramp(i % 8, 5, 4);
    combine_open(&h, "replace", NULL, 4, 2);
    ck_assert_int_eq(h.weights.n, 0);
    combine_gives(combine_merge_ramps(&h, 2, 1, NULL), 2, 4, expected);
    harness_close(&h);
}

/* The engine refuses tensors that nothing depends on: the token table must not be one. */
TEST(tokens_keep_a_gradient_of_zero)
{
    struct harness h;
    combine_open(&h, "replace", NULL, 4, 2);
    const peat_call *c = harness_call(&h, 1, 1, 1, NULL);
    const double one[] = {1, 2, 3, 4};
    struct tensor value = tensor_new(&h.step, PEAT_F64, 3, (int64_t[]){1, 1, 4});
    for (int64_t i = 0; i < 4; i++)
        tensor_set(&value, i, one[i]);
    peat_node *x = graph_leaf(&h.graph, &value, NULL, "x");
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 4}, one);
    peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    peat_node *loss = peat_reshape(c->g, peat_sum(c->g, y, -1), 1, (int64_t[]){1});
    graph_backward(&h.graph, loss);
    ck_assert(x->reached);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq(tensor_get(&x->grad, i), 0);
    harness_close(&h);
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("replace");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("replace", NULL, 4, 3);
}

PLUGIN_TESTS("replace")
