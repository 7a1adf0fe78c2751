/* SPDX-License-Identifier: MIT */
/* The scheme 'transformer_xl' against a computed score; what it sees, and its gradient. */
#include "../content_tests.h"

/* Scores of two heads and three tokens. */
static const double reference[] = {2.2035253262385517,  2.5100814535696094,  -0.7779707587908276,
                                   0.3426672932035453,  0.5763240222544566,  -1.4736317071468,
                                   0.5660967206357778,  1.4031230060254398,  0.413224410041096,
                                   -3.142193865793744,  -3.63666578881385,   -1.8247743413319426,
                                   -1.15582394450929,   -1.3748436702723876, -0.15754041050599588,
                                   -0.5407546244787957, -0.1466937752103592, 0.477892689004207};

TEST(scores_match_the_reference)
{
    struct harness h;
    scheme_open(&h, "transformer_xl", NULL, 2, 2, 3, false);
    scheme_assert(content_scores(&h, 3, NULL), 18, reference, 1e-13);
    harness_close(&h);
}

TEST(a_causal_model_has_the_same_past)
{
    struct harness h;
    scheme_open(&h, "transformer_xl", NULL, 2, 2, 3, true);
    peat_node *n = content_scores(&h, 3, NULL);
    for (int64_t e = 0; e < 18; e++)
        if (e % 3 <= e / 3 % 3)
            ck_assert_double_eq_tol(harness_at(n, e), reference[e], 1e-13);
    harness_close(&h);
}

TEST(only_distances_count)
{
    const double near[] = {0, 2, 5}, far[] = {100, 102, 105};
    double first[18];
    struct harness h;
    scheme_open(&h, "transformer_xl", NULL, 2, 2, 3, true);
    scheme_copy(content_scores(&h, 3, near), 18, first);
    scheme_assert(content_scores(&h, 3, far), 18, first, 1e-14);
    harness_close(&h);
}

/* u and v meet q and k as projected, whatever turns them before the product. */
TEST(the_order_beside_rotary_does_not_matter)
{
    double logits[2][CONTENT_LOGITS];
    for (int first = 0; first < 2; first++) {
        struct modelcheck m;
        struct harness h[2];
        modelcheck_init(&m, PEAT_DECODER);
        content_add(&m, &h[0], first ? "rotary" : "transformer_xl", NULL);
        content_add(&m, &h[1], first ? "transformer_xl" : "rotary", NULL);
        modelcheck_build(&m);
        content_fill(&m);
        modelcheck_logits(&m, logits[first]);
        content_close(&m, &h[0]);
        harness_close(&h[1]);
    }
    ck_assert_double_le(content_distance(logits[0], logits[1], CONTENT_LOGITS), 1e-12);
}

/* u and v are one for all layers, the projection is each layer's own. */
TEST(tensors_are_shared_as_in_the_paper)
{
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, "transformer_xl", NULL, PEAT_DECODER, PATH_AUTO);
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.transformer_xl.u"));
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.transformer_xl.v"));
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.transformer_xl.layer.1.w_r"));
    content_close(&m, &h);
}

TEST(a_group_of_heads_has_right_gradients)
{
    content_group_gradients("transformer_xl", NULL);
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("transformer_xl", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("transformer_xl", "{\"base\": 100}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("transformer_xl", NULL, PEAT_DECODER);
    content_paths_agree("transformer_xl", NULL, PEAT_ENCODER);
    content_no_future("transformer_xl", NULL);
    content_documents_are_apart("transformer_xl", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("transformer_xl")
