/* SPDX-License-Identifier: MIT */
/* The scheme 'query_temperature' against computed factors, its default and its gradient. */
#include "../scheme_tests.h"

enum { N = 6 };

TEST(factors_match_the_reference)
{
    const double pos[N] = {0, 2, 3, 6.5, 7, 100};
    const double expected[N] = {
        1.0, 1.0, 1.3465735902799727, 1.3465735902799727, 1.5493061443340548, 2.629048269010741};
    struct harness h;
    scheme_open(&h, "query_temperature", "{\"floor\": 4, \"scale\": 0.5}", 1, 8, 4, true);
    peat_qkv io = scheme_turn(&h, N, pos, 8, scheme_q8, scheme_k8);
    for (int64_t i = 0; i < N * 8; i++) {
        ck_assert_double_eq_tol(harness_at(io.q, i), expected[i / 8] * scheme_q8[i % 8], 1e-15);
        ck_assert_double_eq(harness_at(io.k, i), scheme_k8[i % 8]);
    }
    harness_close(&h);
}

/* The last of 64 positions is the first whose factor is not 1. */
TEST(by_default_training_hardly_differs)
{
    const double pos[] = {-5, 0, 62, 63};
    struct harness h;
    scheme_open(&h, "query_temperature", NULL, 1, 8, 64, true);
    harness_call(&h, 1, 4, 1, pos);
    ck_assert_str_eq(h.pass.probe[0].node->name, "factor");
    for (int64_t i = 0; i < 3; i++)
        ck_assert_double_eq(harness_at(h.pass.probe[0].node, i), 1);
    ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, 3), 1 + 0.1 * log(2), 1e-15);
    harness_close(&h);
}

TEST(a_model_learns)
{
    scheme_gradients("query_temperature", "{\"floor\": 2}", PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("query_temperature", "{\"floor\": 1, \"scale\": 2}", PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("query_temperature")
