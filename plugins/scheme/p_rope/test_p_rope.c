/* SPDX-License-Identifier: MIT */
/* The scheme 'p_rope' against computed rotations, beside rotary, and its limits. */
#include "../content_tests.h"

TEST(turned_queries_match_the_reference)
{
    const double interleaved[] = {-0.127223251272018,
                                  -0.18388649851410238,
                                  0.16839286407314596,
                                  0.4707906576486443,
                                  0.48177771675299635,
                                  0.6147277703506403,
                                  0.7,
                                  0.8};
    const double halves[] = {-0.16955925368997815, 0.013755173828317507, 0.2788681599829493, 0.4,
                             -0.480884247494236,   0.6323059348076314,   0.7086836736850399, 0.8};
    scheme_turns_query("p_rope", NULL, 4, 3, interleaved);
    scheme_turns_query("p_rope", "{\"layout\": \"halves\"}", 4, 3, halves);
}

TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("p_rope", NULL);
    scheme_products_follow_distance("p_rope", "{\"fraction\": 0.25, \"layout\": \"halves\"}");
}

/* The frequencies are those of the whole head: with all of them it is rotary. */
TEST(all_pairs_are_rotary)
{
    double p_rope[CONTENT_LOGITS], rotary[CONTENT_LOGITS];
    content_logits("p_rope", "{\"fraction\": 1}", PEAT_DECODER, PATH_AUTO, p_rope);
    content_logits("rotary", NULL, PEAT_DECODER, PATH_AUTO, rotary);
    ck_assert_double_eq(content_distance(p_rope, rotary, CONTENT_LOGITS), 0);
}

TEST(angles_can_be_inspected)
{
    struct harness h;
    scheme_open(&h, "p_rope", "{\"fraction\": 0.5}", 1, 8, 4, false);
    harness_call(&h, 1, 3, 1, NULL);
    ck_assert_str_eq(h.pass.probe[0].node->name, "angle");
    ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, 2 * 4 + 1), 0.2, 1e-15);
    ck_assert_double_eq(harness_at(h.pass.probe[0].node, 2 * 4 + 2), 0);
    harness_close(&h);
}

TEST(a_fraction_without_a_pair_and_odd_heads_are_refused)
{
    scheme_refuses("p_rope", "{\"fraction\": 0.2}", 1, 8, 4, true,
                   "fraction = 0.2 leaves none of the 4 pairs of a head: raise fraction or lower "
                   "model.n_head");
    scheme_refuses("p_rope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

TEST(a_model_learns)
{
    scheme_gradients("p_rope", "{\"fraction\": 0.5}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("p_rope", "{\"fraction\": 0.5}", PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("p_rope")
