/* SPDX-License-Identifier: MIT */
/* The scheme 'liere': its identities and its gradient. */
#include "../content_tests.h"

TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("liere", "{\"init\": 0.05}");
    scheme_products_follow_distance("liere", "{\"block\": 4, \"init\": 0.1}");
}

TEST(norms_are_preserved_far_out)
{
    struct harness h;
    scheme_open(&h, "liere", NULL, 1, 8, 4, false);
    peat_qkv io = scheme_turn_8(&h, 123456, -77);
    double norm = 0;
    for (int64_t i = 0; i < 8; i++)
        norm += harness_at(io.q, i) * harness_at(io.q, i);
    ck_assert_double_eq_tol(norm, 2.04, 1e-8);
    harness_close(&h);
}

TEST(heads_that_do_not_split_are_refused)
{
    scheme_refuses("liere", "{\"block\": 3}", 1, 8, 4, true,
                   "a head width of 8 does not split into blocks of 3");
    scheme_refuses("liere", NULL, 1, 11, 4, true,
                   "a head width of 11 does not split into blocks of 2");
}

TEST(generators_learn)
{
    scheme_gradients("liere", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("liere", "{\"block\": 2, \"init\": 5}", PEAT_ENCODER, PEAT_PER_LAYER);
}

PLUGIN_TESTS("liere")
