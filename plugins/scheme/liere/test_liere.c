/* SPDX-License-Identifier: MIT */
/* The scheme 'liere' against rotations by eigenvectors, its identities and its gradient. */
#include "../content_tests.h"

static void assert_golden(const char *json, const double expected[12])
{
    struct harness h;
    scheme_open(&h, "liere", json, 1, 4, 4, true);
    content_turns_at(&h, 20.5, expected);
    harness_close(&h);
}

START_TEST(rotations_match_the_reference)
{
    const double whole[] = {0.45202578717834996, 0.9948267913584062,    0.6229886314423485,
                            -0.3216224031625307, -0.5967478780299831,   -0.8998849129487362,
                            1.09449001195371,    0.0015856766006235867, 1.4237735435135759,
                            0.33901660237073555, 0.04327411187309557,   -0.25422681702684335};
    const double pairs[] = {0.4520257871783504,   0.994826791358406,   0.6229886314423486,
                            -0.32162240316253093, 0.3706604141036777,  1.1546799597427457,
                            0.20338782677240655,  -0.9229139867986277, 0.020865327880869,
                            0.8176738580581187,   -0.6611233814249725, -1.0499796462885342};
    assert_golden(NULL, whole);
    assert_golden("{\"block\": 2}", pairs);
}
END_TEST

START_TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("liere", "{\"init\": 0.05}");
    scheme_products_follow_distance("liere", "{\"block\": 4, \"init\": 0.1}");
}
END_TEST

START_TEST(norms_are_preserved_far_out)
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
END_TEST

START_TEST(heads_that_do_not_split_are_refused)
{
    scheme_refuses("liere", "{\"block\": 3}", 1, 8, 4, true,
                   "a head width of 8 does not split into blocks of 3");
    scheme_refuses("liere", NULL, 1, 11, 4, true,
                   "a head width of 11 does not split into blocks of 2");
}
END_TEST

START_TEST(generators_learn)
{
    scheme_gradients("liere", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("liere", "{\"block\": 2, \"init\": 5}", PEAT_ENCODER, PEAT_PER_LAYER);
}
END_TEST

PLUGIN_TESTS("liere", rotations_match_the_reference, products_depend_on_the_distance_alone,
             norms_are_preserved_far_out, heads_that_do_not_split_are_refused, generators_learn)
