/* SPDX-License-Identifier: MIT */
/* The scheme 'drope' against computed rotations, and when it stops. */
#include "../scheme_tests.h"

/* The query of scheme_q8 at position 3 in a model whose last step of training is `step`. */
static void query(const char *json, peat_phase phase, int64_t step, double out[8])
{
    double rows[16];
    const double pos[] = {3, 1};
    const int64_t dim[] = {1, 1, 2, 8};
    struct harness h;
    scheme_open(&h, "drope", json, 1, 8, 4, true);
    harness_call(&h, 1, 2, 1, pos);
    h.pass.trained_step = step;
    h.call.base.phase = phase;
    h.call.base.step = phase == PEAT_TRAIN ? step : 0;
    ck_assert_int_eq(h.scheme->prepare(&h.call.base, h.pass.shared[0]), PEAT_OK);
    for (int64_t i = 0; i < 16; i++)
        rows[i] = scheme_q8[i % 8];
    peat_qkv io = {.size = sizeof(io)};
    io.q = io.k = harness_constant(&h, 4, dim, rows);
    ck_assert_msg(h.scheme->qkv(&h.call.base, &io) == PEAT_OK, "%s", h.graph.err.text);
    for (int64_t i = 0; i < 8; i++)
        out[i] = harness_at(io.q, i);
    harness_close(&h);
}

static void assert_query(const char *json, int64_t step, const double expected[8])
{
    double q[8];
    for (int phase = PEAT_TRAIN; phase <= PEAT_EVAL; phase++) {
        query(json, (peat_phase)phase, step, q);
        for (int64_t i = 0; i < 8; i++)
            ck_assert_double_eq_tol(q[i], expected[i], 1e-14);
    }
}

TEST(queries_turn_up_to_the_step_as_in_rotary)
{
    const double expected[] = {-0.127223251272018, -0.18388649851410238, 0.16839286407314596,
                               0.4707906576486443, 0.48177771675299647,  0.6147277703506404,
                               0.6975968536023608, 0.8020963968527014};
    const double halves[] = {-0.16955925368997815, 0.013755173828317452, 0.27886815998294934,
                             0.3975982036013484,   -0.480884247494236,   0.6323059348076315,
                             0.7086836736850401,   0.8011963982027008};
    assert_query("{\"after\": 7}", 1, expected);
    assert_query("{\"after\": 7}", 7, expected);
    assert_query("{\"after\": 7, \"layout\": \"halves\"}", 7, halves);
}

TEST(queries_stay_as_they_are_afterwards)
{
    assert_query("{\"after\": 7}", 8, scheme_q8);
    assert_query("{\"after\": 7}", 1000000, scheme_q8);
}

TEST(odd_heads_are_refused)
{
    scheme_refuses("drope", "{\"after\": 7}", 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

PLUGIN_TESTS("drope")
