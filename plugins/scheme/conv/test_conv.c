/* SPDX-License-Identifier: MIT */
/* The scheme 'conv' against computed mixtures; where it may look, and its gradient. */
#include "../content_tests.h"

static peat_node *mixed(struct harness *h, bool causal)
{
    scheme_open(h, "conv", NULL, 1, 2, 4, causal);
    const peat_call *c = content_call(h, 4, NULL);
    return h->scheme->residual(c, content_wave(h, 1, 100, 3, (int64_t[]){1, 4, 2}));
}

START_TEST(mixtures_match_the_reference)
{
    const double decoder[] = {0.8323923714738817,  1.8994202328778542,  1.2110053713961422,
                              -1.3669602248669341, -2.1327549037752673, -1.422896690608677,
                              -0.3940906474337775, 2.40974173004583};
    const double encoder[] = {1.0400425271321438,  -0.05051103034599691, -0.5392309887954339,
                              -1.0173765936903552, -1.54940767553193,    0.7557807245471924,
                              1.1415279886435514,  0.4285748317417445};
    struct harness h;
    scheme_assert(mixed(&h, true), 8, decoder, 1e-14);
    harness_close(&h);
    scheme_assert(mixed(&h, false), 8, encoder, 1e-14);
    harness_close(&h);
}
END_TEST

START_TEST(a_sequence_may_be_shorter_than_the_kernel)
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
END_TEST

/* Padding in front leaves the rest as it was without. */
START_TEST(padding_is_not_mixed_in)
{
    static const uint8_t pad[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    double before[CONTENT_LOGITS], after[CONTENT_LOGITS];
    for (int arch = 0; arch < 2; arch++) {
        struct modelcheck m;
        struct harness h;
        content_model(&m, &h, "conv", NULL, arch ? PEAT_ENCODER : PEAT_DECODER, PATH_AUTO);
        m.input.pad = pad;
        modelcheck_logits(&m, before);
        m.token[0] = (m.token[0] + 1) % 7;
        modelcheck_logits(&m, after);
        ck_assert_double_le(content_distance(before + 7, after + 7, 4 * 7), 1e-12);
        content_close(&m, &h);
    }
}
END_TEST

START_TEST(an_encoder_needs_a_middle)
{
    struct harness h;
    scheme_refuses("conv", "{\"kernel\": 4}", 2, 4, 8, false,
                   "a kernel of 4 has no middle in an encoder: make it odd");
    scheme_open(&h, "conv", "{\"kernel\": 4}", 2, 4, 8, true);
    harness_close(&h);
}
END_TEST

START_TEST(one_layer_may_have_it)
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
END_TEST

START_TEST(a_model_learns_on_either_path)
{
    content_gradients("conv", "{\"kernel\": 2}", PEAT_DECODER, PATH_FUSED);
    content_gradients("conv", NULL, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("conv", NULL, PEAT_DECODER);
    content_no_future("conv", "{\"kernel\": 4}");
    content_documents_are_apart("conv", NULL, PEAT_ENCODER);
    content_documents_are_apart("conv", NULL, PEAT_DECODER);
}
END_TEST

PLUGIN_TESTS("conv", mixtures_match_the_reference, a_sequence_may_be_shorter_than_the_kernel,
             padding_is_not_mixed_in, an_encoder_needs_a_middle, one_layer_may_have_it,
             a_model_learns_on_either_path)
