/* SPDX-License-Identifier: MIT */
/* The scheme 'xpos': what its products depend on. */
#include "../scheme_tests.h"

TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("xpos", NULL);
}

TEST(products_do_not_depend_on_the_centre)
{
    struct harness a, b;
    scheme_open(&a, "xpos", NULL, 1, 8, 8, true);
    scheme_open(&b, "xpos", "{\"centre\": 200}", 1, 8, 8, true);
    ck_assert_double_eq_tol(scheme_product_8(&a, 90, 20), scheme_product_8(&b, 90, 20), 1e-14);
    harness_close(&a);
    harness_close(&b);
}

/* cos(0) = 1: at whole turns of the first pair only its scale, zeta_0 = 0.4/1.4, is left. */
TEST(products_fade_by_zeta)
{
    const double x[] = {1, 0};
    const double pos[] = {1024 * acos(-1), 0};
    struct harness h;
    scheme_open(&h, "xpos", NULL, 1, 2, 8, true);
    peat_qkv io = scheme_turn(&h, 2, pos, 2, x, x);
    ck_assert_double_eq_tol(scheme_product(&io, 0, 1), pow(0.4 / 1.4, 2 * acos(-1)), 1e-11);
    harness_close(&h);
}

TEST(widths_and_scales_without_sense_are_refused)
{
    scheme_refuses("xpos", NULL, 1, 7, 8, true,
                   "a head width of 7 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
    scheme_refuses("xpos", "{\"scale_base\": 1}", 1, 8, 64, true,
                   "at 64 positions the first pair is scaled by more than 1e+09: raise scale_base "
                   "or gamma");
}

TEST(an_encoder_is_refused)
{
    scheme_refuses_encoders("xpos");
}

TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("xpos", "{\"scale_base\": 4}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("xpos", "{\"layout\": \"halves\"}", PEAT_DECODER, PEAT_ONCE);
}

PLUGIN_TESTS("xpos")
