/* SPDX-License-Identifier: MIT */
/* The scheme 'diet_rel': its rows, its limits and its gradient. */
#include "../scheme_tests.h"

enum { T = 4, N = 2 * T - 1 };

static const double delta[N] = {-3, -2, -1, 0, 1, 2, 3};

/* The table is replaced by value(row, head) = row + 100 head. */
static peat_node *counted(struct harness *h, bool causal)
{
    scheme_open(h, "diet_rel", NULL, 2, 4, T, causal);
    struct tensor *table = &h->weights.item[0]->value;
    ck_assert_int_eq(table->dim[0], causal ? T : N);
    for (int64_t i = 0; i < tensor_count(table); i++)
        tensor_set(table, i, (double)(i / 2 + 100 * (i % 2)));
    return scheme_bias_rel(h, N, delta);
}

TEST(each_difference_of_an_encoder_has_its_row)
{
    const double expected[] = {6, 5, 4, 3, 2, 1, 0, 106, 105, 104, 103, 102, 101, 100};
    struct harness h;
    scheme_assert(counted(&h, false), 2 * N, expected, 1e-15);
    harness_close(&h);
}

TEST(a_causal_model_learns_the_past_alone)
{
    const double expected[] = {3, 2, 1, 0, 0, 0, 0, 103, 102, 101, 100, 100, 100, 100};
    struct harness h;
    scheme_assert(counted(&h, true), 2 * N, expected, 1e-15);
    harness_close(&h);
}

TEST(distances_beyond_the_table_are_refused)
{
    const double far = -4;
    const peat_rel rel = {.size = sizeof(rel), .n = 1, .n_axes = 1, .delta = &far};
    struct harness h;
    scheme_refuses("diet_rel", "{\"max_len\": 5}", 2, 4, 8, true,
                   "learns max_len = 5 distances, but sequences of 8 are evaluated; raise max_len");
    scheme_open(&h, "diet_rel", NULL, 2, 4, T, true);
    scheme_fails(&h, h.scheme->bias_rel(harness_call(&h, 1, T, 1, NULL), &rel),
                 "a distance of 4 is not one of those learned");
    harness_close(&h);
}

TEST(gradients_are_exact)
{
    scheme_gradients("diet_rel", "{\"init_std\": 1}", PEAT_DECODER, PEAT_PER_LAYER);
    scheme_gradients("diet_rel", "{\"init_std\": 1}", PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("diet_rel")
