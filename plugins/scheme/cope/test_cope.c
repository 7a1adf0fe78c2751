/* SPDX-License-Identifier: MIT */
/* The scheme 'cope': its gates, its limits and its gradient. */
#include "../content_tests.h"

/* 1 below and on the diagonal: [1,1,T,T] */
static peat_node *causal(struct harness *h, int64_t T)
{
    double value[64];
    for (int64_t i = 0; i < T * T; i++)
        value[i] = i % T <= i / T;
    return harness_constant(h, 4, (int64_t[]){1, 1, T, T}, value);
}

static peat_node *logits(struct harness *h, int64_t T, const double *S)
{
    content_call(h, T, NULL);
    h->call.base.mask = causal(h, T);
    peat_qkv p = content_qkv(h, T);
    peat_node *s = harness_constant(h, 4, (int64_t[]){1, 1, T, T}, S);
    peat_node *n = h->scheme->logits(&h->call.base, &p, s, NULL);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

TEST(positions_count_the_gates_from_the_key_on)
{
    const double expected[] = {2.503256409179737, 1.6224593312018545, 1.3535179098318595,
                               0.7310585786300049};
    const double S[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, -1, 0.5, 1};
    struct harness h;
    scheme_open(&h, "cope", NULL, 1, 2, 4, true);
    logits(&h, 4, S);
    ck_assert_int_eq(h.pass.n_probe, 1);
    ck_assert_str_eq(h.pass.probe[0].node->name, "position");
    for (int64_t j = 0; j < 4; j++)
        ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, 12 + j), expected[j], 1e-14);
    harness_close(&h);
}

/* Scores of keys that are masked are finite and may be anything: their gates are 0. */
TEST(masked_keys_open_no_gate)
{
    double first[16], S[16];
    struct harness h;
    for (int i = 0; i < 16; i++)
        S[i] = sin(1.0 + i);
    scheme_open(&h, "cope", "{\"positions\": 3}", 1, 2, 4, true);
    peat_node *n = logits(&h, 4, S);
    scheme_copy(n, 16, first);
    for (int i = 0; i < 16; i++)
        S[i] = i % 4 > i / 4 ? 700 : S[i];
    n = logits(&h, 4, S);
    for (int64_t i = 0; i < 16; i++)
        if (i % 4 <= i / 4)
            ck_assert_double_eq(harness_at(n, i), first[i]);
    harness_close(&h);
}

/* All gates open: positions 4, 3, 2, 1 of which only 0, 1 and 2 have vectors. */
TEST(far_keys_share_the_last_vector)
{
    const double S[16] = {40, 0, 0, 0, 40, 40, 0, 0, 40, 40, 40, 0, 40, 40, 40, 40};
    struct harness h;
    scheme_open(&h, "cope", "{\"positions\": 3}", 1, 2, 4, true);
    peat_node *n = logits(&h, 4, S);
    ck_assert_double_eq_tol(harness_at(n, 12), harness_at(n, 13), 1e-13);
    ck_assert_double_eq_tol(harness_at(n, 13), harness_at(n, 14), 1e-13);
    ck_assert_double_ge(fabs(harness_at(n, 14) - harness_at(n, 15)), 1e-3);
    harness_close(&h);
}

TEST(encoders_are_refused)
{
    scheme_refuses_encoders("cope");
}

TEST(a_model_learns)
{
    content_gradients("cope", "{\"positions\": 2}", PEAT_DECODER, PATH_AUTO);
    content_gradients("cope", "{\"positions\": 4}", PEAT_DECODER, PATH_AUTO);
    content_no_future("cope", "{\"positions\": 3}");
    content_documents_are_apart("cope", "{\"positions\": 3}", PEAT_DECODER);
}

PLUGIN_TESTS("cope")
