/* SPDX-License-Identifier: MIT */
/* The scheme 'deberta' against computed scores; whose projections it takes, and its gradient. */
#include "../content_tests.h"

TEST(scores_match_the_reference)
{
    const double expected[] = {
        0.7061942709103096,   -1.1963096160704616, 2.1789168113944988,  1.149356001163947,
        -2.059741535241198,   0.9141797429096704,  -0.5641772525875739, 0.6911192851997622,
        -0.25190581738614726, 0.8636282879904005,  -1.4670602870049885, 1.6658707739028165,
        1.8666057459424579,   -0.5774040197953612, 1.3409491752415377,  0.30684525201246715,
        -1.0684997192351628,  1.8910667952401814,  -3.1221348303132466, -1.266895495309415,
        1.5566520282812863,   -0.5322951976055094, -0.3782531279723318, 0.2777884128691485,
        0.9903167498621166,   -0.8889421435176058, 1.5115256444207006,  -1.576249110000687,
        -1.281964611132411,   0.23461333339629076, -0.8167911064847111, -0.7257380329656015};
    struct harness h;
    scheme_open(&h, "deberta",
                "{\"clip\": 2, \"projection\": \"own\", \"query_bias\": false, \"p2c\": \"paper\"}",
                2, 2, 4, false);
    scheme_assert(content_scores(&h, 4, NULL), 32, expected, 1e-13);
    harness_close(&h);
}

/* Own matrices that are copies of the layer's W_q and W_k, whose shifts are 0, change nothing. */
TEST(shared_projections_are_those_of_the_layer)
{
    double shared[CONTENT_LOGITS], own[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_logits("deberta", "{\"clip\": 3}", PEAT_ENCODER, PATH_AUTO, shared);
    content_model(&m, &h, "deberta",
                  "{\"clip\": 3, \"projection\": \"own\", \"query_bias\": false}", PEAT_ENCODER,
                  PATH_AUTO);
    for (int layer = 0; layer < 2; layer++)
        for (int which = 0; which < 2; which++) {
            char from[64], to[64];
            snprintf(from, sizeof(from), "block.%d.attention.qkv.weight", layer);
            snprintf(to, sizeof(to), "position.0.deberta.layer.%d.w_%c", layer, "qk"[which]);
            const struct weight *w = weights_find(&m.model.weights, from);
            struct weight *x = weights_find(&m.model.weights, to);
            for (int64_t i = 0; i < 64; i++)
                tensor_set(&x->value, i, tensor_get(&w->value, which * 64 + i));
        }
    modelcheck_logits(&m, own);
    ck_assert_double_le(content_distance(shared, own, CONTENT_LOGITS), 1e-12);
    content_close(&m, &h);
}

/* Three terms: tokens, and positions both ways. */
TEST(scores_are_scaled_for_three_terms)
{
    content_scale_has_terms("deberta", 3);
}

TEST(a_group_of_heads_projects_through_its_own)
{
    content_group_gradients("deberta", "{\"clip\": 2}");
}

TEST(distances_are_told_apart_up_to_what_is_trained)
{
    struct harness h;
    scheme_open(&h, "deberta", NULL, 2, 4, 9, false);
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 18);
    ck_assert_int_eq(value_get(h.positional.scheme[0].part.resolved, "clip")->integer, 9);
    harness_close(&h);
}

TEST(buckets_that_no_distance_reaches_are_refused)
{
    scheme_refuses("deberta", "{\"clip\": 8, \"buckets\": \"log\", \"max_distance\": 5}", 2, 4, 9,
                   false,
                   "logarithmic buckets need clip = 8 to be 2 or more and max_distance = 5 to be "
                   "more than clip / 2 + 1");
}

TEST(a_model_learns_on_either_path)
{
    const char *paper = "{\"clip\": 3, \"p2c\": \"paper\"}";
    const char *far = "{\"clip\": 3, \"buckets\": \"log\", \"max_distance\": 5}";
    const char *norm = "{\"clip\": 2, \"norm\": true}";
    const char *own = "{\"clip\": 3, \"projection\": \"own\", \"norm\": true}";
    content_gradients("deberta", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("deberta", norm, PEAT_ENCODER, PATH_COMPOSED);
    content_gradients("deberta", own, PEAT_DECODER, PATH_COMPOSED);
    content_gradients("deberta", paper, PEAT_DECODER, PATH_COMPOSED);
    content_gradients("deberta", far, PEAT_ENCODER, PATH_FUSED);
    content_paths_agree("deberta", norm, PEAT_DECODER);
    content_paths_agree("deberta", own, PEAT_ENCODER);
    content_paths_agree("deberta", paper, PEAT_DECODER);
    content_no_future("deberta", NULL);
    content_documents_are_apart("deberta", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("deberta")
