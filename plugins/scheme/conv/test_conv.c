/* SPDX-License-Identifier: MIT */
/* The scheme 'conv': where it may look, and its gradient. */
#include "../content_tests.h"

TEST(a_sequence_may_be_shorter_than_the_kernel)
{
    for (int causal = 0; causal < 2; causal++) {
        struct harness h;
        scheme_open(&h, "conv", "{\"kernel\": 9}", 1, 2, 4, causal);
        const peat_call *c = content_call(&h, 1, NULL);
        peat_node *x = content_wave(&h, 1, 100, 3, (int64_t[]){1, 1, 2});
        double own = harness_at(h.scheme->residual(c, x), 0);
        double w = sin(1 + (causal ? 0 : 2 * 4.0));
        ck_assert_double_eq_tol(own, harness_at(x, 0) * (1 + w), 1e-14);
        harness_close(&h);
    }
}

/* Padding in front leaves the rest as it was without. */
TEST(padding_is_not_mixed_in)
{
    static const uint8_t pad[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    double before[CONTENT_LOGITS], after[CONTENT_LOGITS];
    for (int arch = 0; arch < 2; arch++) {
        struct modelcheck m;
        struct harness h;
        content_model(&m, &h, "conv", NULL, arch ? PEAT_ENCODER : PEAT_DECODER, PATH_AUTO);
        m.input.rows.pad = pad;
        modelcheck_logits(&m, before);
        m.token[0] = (m.token[0] + 1) % 7;
        modelcheck_logits(&m, after);
        ck_assert_double_le(content_distance(before + 7, after + 7, 4 * 7), 1e-12);
        content_close(&m, &h);
    }
}

TEST(an_encoder_needs_a_middle)
{
    struct harness h;
    scheme_refuses("conv", "{\"kernel\": 4}", 2, 4, 8, false,
                   "a kernel of 4 has no middle in an encoder: make it odd");
    scheme_open(&h, "conv", "{\"kernel\": 4}", 2, 4, 8, true);
    harness_close(&h);
}

TEST(one_layer_may_have_it)
{
    static const int64_t layer[] = {0};
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_DECODER);
    content_add(&m, &h, "conv", NULL);
    m.positional.scheme[0].where.n_layer = 1;
    m.positional.scheme[0].where.layer = layer;
    modelcheck_build(&m);
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.conv.layer.0.w"));
    ck_assert_ptr_null(weights_find(&m.model.weights, "position.0.conv.layer.1.w"));
    modelcheck_gradients(&m, 1e-6);
    content_close(&m, &h);
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("conv", "{\"kernel\": 2}", PEAT_DECODER, PATH_FUSED);
    content_gradients("conv", NULL, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("conv", NULL, PEAT_DECODER);
    content_no_future("conv", "{\"kernel\": 4}");
    content_documents_are_apart("conv", NULL, PEAT_ENCODER);
    content_documents_are_apart("conv", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("conv")
