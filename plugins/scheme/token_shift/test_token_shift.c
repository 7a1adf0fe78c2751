/* SPDX-License-Identifier: MIT */
/* The scheme 'token_shift': what moves where, within documents. */
#include "../content_tests.h"

/* Feature i of token t is 10 t + i. */
static peat_node *counted(struct harness *h)
{
    double x[12];
    for (int i = 0; i < 12; i++)
        x[i] = 10.0 * (i / 4) + i % 4;
    return harness_constant(h, 3, (int64_t[]){1, 3, 4}, x);
}

static void assert_shifted(const char *json, bool causal, const double *expected)
{
    struct harness h;
    scheme_open(&h, "token_shift", json, 2, 2, 3, causal);
    const peat_call *c = harness_call(&h, 1, 3, 1, NULL);
    peat_node *x = counted(&h), *q = x, *k = x, *v = x;
    ck_assert_int_eq(h.scheme->hidden(c, &q, &k, &v), PEAT_OK);
    scheme_assert(q, 12, expected, 1e-15);
    ck_assert_ptr_eq(q, k);
    ck_assert_ptr_eq(q, v);
    harness_close(&h);
}

TEST(half_the_features_are_those_of_the_token_before)
{
    const double expected[] = {0, 0, 2, 3, 0, 1, 12, 13, 10, 11, 22, 23};
    assert_shifted(NULL, true, expected);
}

TEST(an_encoder_takes_from_both_sides)
{
    const double expected[] = {0, 11, 2, 3, 0, 21, 12, 13, 10, 0, 22, 23};
    assert_shifted(NULL, false, expected);
}

TEST(all_features_may_move)
{
    const double expected[] = {0, 0, 0, 0, 0, 1, 2, 3, 10, 11, 12, 13};
    assert_shifted("{\"fraction\": 1}", true, expected);
}

TEST(inputs_that_differ_are_shifted_apart)
{
    struct harness h;
    scheme_open(&h, "token_shift", NULL, 2, 2, 3, true);
    const peat_call *c = harness_call(&h, 1, 3, 1, NULL);
    peat_node *x = counted(&h), *q = x, *k = peat_scale(c->g, x, 2), *v = k;
    ck_assert_int_eq(h.scheme->hidden(c, &q, &k, &v), PEAT_OK);
    ck_assert_ptr_eq(k, v);
    ck_assert_double_eq(harness_at(q, 8), 10);
    ck_assert_double_eq(harness_at(k, 8), 20);
    harness_close(&h);
}

TEST(a_fraction_that_takes_nothing_is_refused)
{
    scheme_refuses("token_shift", "{\"fraction\": 0.1}", 2, 4, 8, true,
                   "a fraction of 0.1 of 8 features is none: raise fraction");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("token_shift", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("token_shift", NULL, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("token_shift", NULL, PEAT_ENCODER);
    content_no_future("token_shift", "{\"fraction\": 1}");
    content_documents_are_apart("token_shift", NULL, PEAT_ENCODER);
    content_documents_are_apart("token_shift", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("token_shift")
