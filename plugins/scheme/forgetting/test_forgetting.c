/* SPDX-License-Identifier: MIT */
/* The scheme 'forgetting' against a computed bias; its size, its limits and its gradient. */
#include "../content_tests.h"

static peat_node *bias(struct harness *h)
{
    scheme_open(h, "forgetting", NULL, 2, 2, 3, true);
    content_call(h, 3, NULL);
    h->call.base.x_q = h->call.base.x_k = content_wave(h, 1, 100, 3, (int64_t[]){1, 3, 4});
    peat_node *n = h->scheme->bias(&h->call.base, NULL);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

TEST(biases_match_the_reference)
{
    const double expected[] = {0.43174578259861407, 3.6267723928222937, 4.225545957393363,
                               1.4303301437750156,  1.6083342920644643, 4.425875003324848};
    struct harness h;
    scheme_assert(bias(&h), 6, expected, 1e-14);
    harness_close(&h);
}

/* The part common to a query's keys is left out, and with it a [B,H,Tq,Tk]. */
TEST(one_number_for_each_key_suffices)
{
    struct harness h;
    peat_node *n = bias(&h);
    ck_assert_int_eq(n->value.rank, 4);
    ck_assert_int_eq(n->value.dim[1], 2);
    ck_assert_int_eq(n->value.dim[2], 1);
    ck_assert_int_eq(n->value.dim[3], 3);
    harness_close(&h);
}

TEST(gates_can_be_inspected)
{
    struct harness h;
    peat_node *n = bias(&h);
    ck_assert_str_eq(h.pass.probe[0].node->name, "log_gate");
    for (int64_t head = 0; head < 2; head++)
        ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, 2 + head),
                                harness_at(n, 3 * head) - harness_at(n, 3 * head + 1), 1e-14);
    harness_close(&h);
}

TEST(encoders_are_refused)
{
    scheme_refuses_encoders("forgetting");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("forgetting", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("forgetting", NULL, PEAT_DECODER, PATH_COMPOSED);
    content_paths_agree("forgetting", NULL, PEAT_DECODER);
    content_no_future("forgetting", NULL);
    content_documents_are_apart("forgetting", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("forgetting")
