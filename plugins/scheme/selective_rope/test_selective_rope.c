/* SPDX-License-Identifier: MIT */
/* The scheme 'selective_rope': its convolution and its gradient. */
#include "../content_tests.h"

static const char with_gate[] = "{\"rank\": 3, \"kernel\": 2, \"gate\": true}";

TEST(odd_heads_are_refused)
{
    scheme_refuses("selective_rope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("selective_rope", with_gate, PEAT_DECODER, PATH_FUSED);
    content_gradients("selective_rope", "{\"rank\": 2}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("selective_rope", with_gate, PEAT_DECODER);
}

/* The convolution stays within the document, and in an encoder looks back, too. */
TEST(angles_come_from_the_past_of_the_document)
{
    content_no_future("selective_rope", with_gate);
    content_documents_are_apart("selective_rope", with_gate, PEAT_DECODER);
    content_documents_are_apart("selective_rope", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("selective_rope")
