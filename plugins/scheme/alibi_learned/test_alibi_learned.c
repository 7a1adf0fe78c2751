/* SPDX-License-Identifier: MIT */
/* The scheme 'alibi_learned' against numbers by hand; its start, its bounds and gradient. */
#include "../content_tests.h"

/* Two heads with slopes 1/16 and 1/256; factors 2 and 0.5. */
TEST(the_factor_of_a_head_scales_its_slope)
{
    const double delta[] = {-3, 0, 1, 2.5}, factor[] = {2, 0.5};
    const double expected[] = {-0.375,       -0.0, -0.125,       -0.3125,
                               -0.005859375, -0.0, -0.001953125, -0.0048828125};
    struct harness h;
    scheme_open(&h, "alibi_learned", NULL, 2, 4, 4, true);
    for (int64_t i = 0; i < 2; i++)
        tensor_set(&h.weights.item[0]->value, i, factor[i]);
    scheme_assert(scheme_bias_rel(&h, 4, delta), 8, expected, 1e-15);
    harness_close(&h);
}

TEST(before_training_it_is_alibi)
{
    const double delta[] = {-7, -1, 0, 4};
    for (int64_t H = 1; H <= 12; H++) {
        struct harness a, b;
        scheme_open(&a, "alibi", NULL, H, 2, 4, true);
        scheme_open(&b, "alibi_learned", NULL, H, 2, 4, true);
        peat_node *fixed = scheme_bias_rel(&a, 4, delta), *learned = scheme_bias_rel(&b, 4, delta);
        for (int64_t i = 0; i < 4 * H; i++)
            ck_assert_double_eq(harness_at(fixed, i), harness_at(learned, i));
        harness_close(&a);
        harness_close(&b);
    }
}

TEST(factors_stay_above_zero_and_do_not_decay)
{
    struct harness h;
    scheme_open(&h, "alibi_learned", NULL, 2, 4, 4, true);
    const struct weight *w = h.weights.item[0];
    ck_assert(w->bounded && !w->decay && !w->frozen);
    ck_assert_double_eq(w->lo, 0);
    ck_assert_double_ge(w->hi, 1e3);
    harness_close(&h);
}

/* Head 1 of 2 alone: a group of one head, whose slope is 1/256. */
TEST(a_group_of_heads_has_its_own_slopes)
{
    const double delta = 4;
    struct modelcheck m;
    struct harness h;
    scheme_open(&h, "alibi_learned", NULL, 2, 4, 5, true);
    modelcheck_init(&m, PEAT_DECODER);
    struct scheme_part *part = modelcheck_scheme(&m, "alibi_learned", h.scheme);
    part->where.head_begin = 1;
    part->where.head_end = 2;
    modelcheck_build(&m);
    const struct weight *w = weights_find(&m.model.weights, "position.0.alibi_learned.factor");
    ck_assert_ptr_nonnull(w);
    ck_assert_int_eq(tensor_count(&w->value), 1);
    modelcheck_gradients(&m, 1e-6);
    harness_call(&h, 1, 4, 1, NULL);
    h.call.base.H = 1;
    const peat_rel rel = {.size = sizeof(rel), .n = 1, .n_axes = 1, .delta = &delta};
    ck_assert_double_eq(harness_at(h.scheme->bias_rel(&h.call.base, &rel), 0), -4.0 / 256);
    content_close(&m, &h);
}

TEST(gradients_are_exact)
{
    scheme_gradients("alibi_learned", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("alibi_learned", NULL, PEAT_ENCODER, PEAT_PER_LAYER);
    content_gradients("alibi_learned", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("alibi_learned", NULL, PEAT_ENCODER, PATH_COMPOSED);
}

PLUGIN_TESTS("alibi_learned")
