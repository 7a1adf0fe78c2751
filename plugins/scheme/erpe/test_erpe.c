/* SPDX-License-Identifier: MIT */
/* The scheme 'erpe': its mask, its limits and its gradient. */
#include "../content_tests.h"

TEST(it_begins_as_if_absent)
{
    double with[CONTENT_LOGITS], without[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_DECODER);
    modelcheck_build(&m);
    modelcheck_logits(&m, without);
    modelcheck_release(&m);
    modelcheck_init(&m, PEAT_DECODER);
    content_add(&m, &h, "erpe", NULL);
    modelcheck_build(&m);
    modelcheck_logits(&m, with);
    ck_assert_double_le(content_distance(with, without, CONTENT_LOGITS), 1e-12);
    content_close(&m, &h);
}

TEST(a_causal_model_learns_the_past_alone)
{
    struct harness h;
    scheme_open(&h, "erpe", NULL, 2, 2, 3, true);
    ck_assert_int_eq(h.weights.item[0]->value.dim[1], 3);
    harness_close(&h);
}

TEST(distances_beyond_the_table_are_refused)
{
    peat_side side = {.size = sizeof(side), .T = 2, .pos_B = 1, .n_axes = 1};
    peat_node *shared[PEAT_MAX_SHARED];
    struct harness h;
    scheme_refuses("erpe", "{\"max_len\": 5}", 2, 4, 8, true,
                   "learns max_len = 5 distances, but sequences of 8 are evaluated; raise max_len");
    scheme_open(&h, "erpe", NULL, 2, 4, 5, true);
    harness_call(&h, 1, 2, 1, NULL);
    h.call.base.q = h.call.base.k = &side;
    side.pos = (const double[]){0, 4};
    ck_assert_int_eq(h.scheme->prepare(&h.call.base, shared), PEAT_OK);
    side.pos = (const double[]){0, 5};
    ck_assert_int_eq(h.scheme->prepare(&h.call.base, shared), PEAT_FAILED);
    scheme_says(&h, "a distance of 5 is not one of those learned: max_len is 5");
    harness_close(&h);
}

/* Terms that the table adds for keys of the future or of other documents are masked again. */
TEST(a_model_learns)
{
    content_gradients("erpe", NULL, PEAT_DECODER, PATH_AUTO);
    content_gradients("erpe", NULL, PEAT_ENCODER, PATH_AUTO);
    content_no_future("erpe", NULL);
    content_documents_are_apart("erpe", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("erpe")
