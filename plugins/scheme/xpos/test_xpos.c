/* SPDX-License-Identifier: MIT */
/* The scheme 'xpos' against computed rotations, and what its products depend on. */
#include "../scheme_tests.h"

/* Query at 300, key at 1, centre 4: rows of q and of k. */
static void assert_golden(const char *json, const double q[8], const double k[8])
{
    struct harness h;
    scheme_open(&h, "xpos", json, 1, 8, 8, true);
    peat_qkv io = scheme_turn_8(&h, 300, 1);
    for (int64_t i = 0; i < 8; i++) {
        ck_assert_double_eq_tol(harness_at(io.q, i), q[i], 1e-13);
        ck_assert_double_eq_tol(harness_at(io.k, 8 + i), k[i], 1e-13);
    }
    harness_close(&h);
}

START_TEST(interleaved_pairs_match_the_reference)
{
    const double q[] = {0.09584258074121228, -0.050598772022794405, 0.28332131607859434,
                        -0.1506224942936794, -0.4489993331878858,   -0.40544257248877363,
                        0.38584721497567276, 0.8667413790256991};
    const double k[] = {-0.15564117159162766, 1.0436990381577897, 0.5446318126816954,
                        0.5549018800457979,   0.3959536520677065, 0.3031989756816758,
                        0.1996696282468265,   0.10008452609794638};
    assert_golden(NULL, q, k);
}
END_TEST

START_TEST(halves_with_other_numbers_match_the_reference)
{
    const double q[] = {0.000411545250156276,  0.01206014358842228,   0.11711726699311895,
                        -0.08966087616398499,  -9.18108706763732e-05, 0.017590743943361374,
                        -0.048139675778985334, -0.4072139382070429};
    const double k[] = {0.08901411156891786, 0.5226387456325907, 0.5556239803112321,
                        0.4901711579713655,  0.827571247611081,  0.5180119117627706,
                        0.2774816819192213,  0.12546335193657787};
    assert_golden("{\"layout\": \"halves\", \"gamma\": 0.1, \"scale_base\": 100, \"base\": 50, "
                  "\"centre\": 4}",
                  q, k);
}
END_TEST

START_TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("xpos", NULL);
}
END_TEST

START_TEST(products_do_not_depend_on_the_centre)
{
    struct harness a, b;
    scheme_open(&a, "xpos", NULL, 1, 8, 8, true);
    scheme_open(&b, "xpos", "{\"centre\": 200}", 1, 8, 8, true);
    ck_assert_double_eq_tol(scheme_product_8(&a, 90, 20), scheme_product_8(&b, 90, 20), 1e-14);
    harness_close(&a);
    harness_close(&b);
}
END_TEST

/* cos(0) = 1: at whole turns of the first pair only its scale, zeta_0 = 0.4/1.4, is left. */
START_TEST(products_fade_by_zeta)
{
    const double x[] = {1, 0};
    const double pos[] = {1024 * acos(-1), 0};
    struct harness h;
    scheme_open(&h, "xpos", NULL, 1, 2, 8, true);
    peat_qkv io = scheme_turn(&h, 2, pos, 2, x, x);
    ck_assert_double_eq_tol(scheme_product(&io, 0, 1), pow(0.4 / 1.4, 2 * acos(-1)), 1e-11);
    harness_close(&h);
}
END_TEST

START_TEST(widths_and_scales_without_sense_are_refused)
{
    scheme_refuses("xpos", NULL, 1, 7, 8, true,
                   "a head width of 7 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
    scheme_refuses("xpos", "{\"scale_base\": 1}", 1, 8, 64, true,
                   "at 64 positions the first pair is scaled by more than 1e+09: raise scale_base "
                   "or gamma");
}
END_TEST

START_TEST(an_encoder_is_refused)
{
    scheme_refuses_encoders("xpos");
}
END_TEST

START_TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("xpos", "{\"scale_base\": 4}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("xpos", "{\"layout\": \"halves\"}", PEAT_DECODER, PEAT_ONCE);
}
END_TEST

PLUGIN_TESTS("xpos", interleaved_pairs_match_the_reference,
             halves_with_other_numbers_match_the_reference, products_depend_on_the_distance_alone,
             products_do_not_depend_on_the_centre, products_fade_by_zeta,
             widths_and_scales_without_sense_are_refused, an_encoder_is_refused,
             gradients_of_the_model_around_it_are_exact)
