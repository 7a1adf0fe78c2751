/* SPDX-License-Identifier: MIT */
/* The scheme 'path': what stands between, and its gradient. */
#include "../content_tests.h"

static const char small[] = "{\"rank\": 2, \"kernel\": 2}";

/* The scheme's scores of one row of 4 tokens; beta_shift is lowered to `shift` unless it is 0. */
static peat_node *scores(struct harness *h, double shift)
{
    scheme_open(h, "path", small, 2, 2, 4, true);
    const peat_call *c = content_call(h, 4, NULL);
    for (int64_t i = 0; shift < 0 && i < 2; i++)
        tensor_set(&h->weights.item[4]->value, i, shift);
    h->call.base.x_q = h->call.base.x_k = content_wave(h, 1, 100, 3, (int64_t[]){1, 4, 4});
    peat_qkv p = content_qkv(h, 4);
    peat_node *n = h->scheme->score_add(c, &p);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

TEST(tokens_that_reflect_nothing_leave_products_as_they_are)
{
    struct harness h;
    peat_node *n = scores(&h, -800);
    for (int64_t i = 0; i < 32; i++)
        ck_assert_double_eq(harness_at(n, i), 0);
    harness_close(&h);
}

TEST(encoders_are_refused)
{
    scheme_refuses_encoders("path");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("path", small, PEAT_DECODER, PATH_FUSED);
    content_gradients("path", NULL, PEAT_DECODER, PATH_COMPOSED);
    content_paths_agree("path", small, PEAT_DECODER);
    content_group_gradients("path", small);
}

/* More keys than go through the tokens together. */
TEST(keys_of_two_blocks_learn)
{
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, "path", small, PEAT_DECODER, PATH_FUSED);
    m.input.B = 1;
    m.input.rows.T = 45;
    modelcheck_gradients(&m, 1e-6);
    content_close(&m, &h);
}

TEST(what_stands_between_is_of_the_document)
{
    content_no_future("path", NULL);
    content_documents_are_apart("path", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("path")
