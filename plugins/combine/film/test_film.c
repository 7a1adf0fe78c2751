/* SPDX-License-Identifier: MIT */
/* The combination 'film'. Reference values: its formula, computed once. */
#include "../combine_tests.h"

static const double film_values[] = {-1.225, 0.75, 1.925,  -1.2, -0.6, -0.6,  0.625,  -1.65,
                                     0.35,   3.15, -0.975, 0.75, -0.6, 0.975, -1.475, 0.45};

TEST(position_scales_and_shifts)
{
    struct harness h;
    combine_open(&h, "film", NULL, 4, 2);
    combine_fill(&h, 0, 2, 5);
    combine_fill(&h, 1, 4, 5);
    combine_gives(combine_merge_ramps(&h, 2, 1, NULL), 2, 4, film_values);
    harness_close(&h);
}

TEST(it_starts_without_scaling)
{
    struct harness h;
    combine_open(&h, "film", NULL, 4, 2);
    ck_assert_str_eq(h.weights.item[0]->name, "film.scale");
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq(tensor_get(&h.weights.item[0]->value, i), 0);
    tensor_fill(&h.weights.item[1]->value, 0);
    const peat_node *y = combine_merge_ramps(&h, 2, 1, NULL);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), combine_ramp(i, 3, 2), 1e-13);
    harness_close(&h);
}

TEST(streams_may_have_any_width)
{
    struct harness h;
    combine_open_as(&h, "film", "{\"d_pos\": 3}", 4, 1, 3, (int64_t[]){0, 0, 5},
                    (int64_t[]){4, 3, 5}, 4);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 4 * 8);
    harness_close(&h);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("film", NULL, 4, 3);
    combine_gradients("film", "{\"d_pos\": 2}", 4, 3);
}

PLUGIN_TESTS("film")
