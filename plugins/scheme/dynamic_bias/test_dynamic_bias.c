/* SPDX-License-Identifier: MIT */
/* The scheme 'dynamic_bias' against a computed network, and its gradient. */
#include "../scheme_tests.h"

/* Element i of tensor k is sin(1 + i + 10 k); 2 heads, distances -3, 0, 1, 8. */
static void assert_golden(const char *json, const double expected[8])
{
    const double delta[] = {-3, 0, 1, 8};
    struct harness h;
    scheme_open(&h, "dynamic_bias", json, 2, 4, 8, false);
    scheme_wave(&h);
    scheme_assert(scheme_bias_rel(&h, 4, delta), 8, expected, 1e-13);
    harness_close(&h);
}

TEST(normed_layers_match_the_reference)
{
    const double expected[] = {-1.2150876677630724, -1.2134139601792668, -1.0695257489543637,
                               0.3017771411391936,  0.6042350928775596,  0.6034027966703135,
                               0.53185050544056,    0.2284884334264692};
    assert_golden("{\"width\": 3, \"depth\": 2}", expected);
}

TEST(logarithms_without_norm_match_the_reference)
{
    const double expected[] = {0.21477982347971536, 0.060224956081147585, 0.05303424116471142,
                               0.31934976987190183, 0.7781734260410391,   0.662033079594815,
                               0.6622291194421004,  0.8315111392019268};
    assert_golden("{\"width\": 3, \"depth\": 2, \"log\": true, \"norm\": false}", expected);
}

TEST(the_width_is_a_quarter_of_the_model)
{
    struct harness h;
    scheme_open(&h, "dynamic_bias", NULL, 4, 8, 8, false);
    ck_assert_int_eq(h.weights.n, 3 * 4 + 1);
    const struct tensor *out = &h.weights.item[12]->value;
    ck_assert_int_eq(out->dim[0], 8);
    ck_assert_int_eq(out->dim[1], 4);
    harness_close(&h);
}

TEST(a_single_unit_with_norm_is_refused)
{
    scheme_refuses("dynamic_bias", "{\"width\": 1}", 2, 4, 8, true,
                   "layer normalisation of a single unit gives 0: raise width or set norm to "
                   "false");
}

TEST(gradients_are_exact)
{
    scheme_gradients("dynamic_bias", "{\"width\": 4}", PEAT_ENCODER, PEAT_ONCE);
    scheme_gradients("dynamic_bias", "{\"width\": 4, \"depth\": 1, \"log\": true}", PEAT_DECODER,
                     PEAT_PER_LAYER);
    scheme_gradients("dynamic_bias", "{\"width\": 4, \"norm\": false}", PEAT_DECODER, PEAT_ONCE);
}

PLUGIN_TESTS("dynamic_bias")
