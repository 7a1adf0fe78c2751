/* SPDX-License-Identifier: MIT */
/* The scheme 'carope': its start as rotary, and its gradient. */
#include "../content_tests.h"

TEST(it_starts_as_rotary)
{
    struct harness h;
    struct modelcheck m;
    double carope[CONTENT_LOGITS], rotary[CONTENT_LOGITS];
    scheme_model(&m, &h, "carope", NULL, PEAT_DECODER, PEAT_ONCE);
    modelcheck_logits(&m, carope);
    content_close(&m, &h);
    scheme_model(&m, &h, "rotary", NULL, PEAT_DECODER, PEAT_ONCE);
    modelcheck_logits(&m, rotary);
    content_close(&m, &h);
    ck_assert_double_le(content_distance(carope, rotary, CONTENT_LOGITS), 1e-12);
}

TEST(odd_heads_are_refused)
{
    scheme_refuses("carope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("carope", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("carope", "{\"layout\": \"halves\"}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("carope", NULL, PEAT_DECODER);
    content_no_future("carope", NULL);
    content_documents_are_apart("carope", NULL, PEAT_DECODER);
    content_documents_are_apart("carope", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("carope")
