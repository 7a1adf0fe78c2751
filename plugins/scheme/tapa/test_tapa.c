/* SPDX-License-Identifier: MIT */
/* The scheme 'tapa': how little distance alone says, and its limits. */
#include "../content_tests.h"

/* Logits of the call for q and k of p, scaled by 1/sqrt(C) as the host does. */
static peat_node *logits(struct harness *h, const peat_qkv *p)
{
    const peat_call *c = &h->call.base;
    peat_qkv io = *p;
    ck_assert_int_eq(h->scheme->qkv(c, &io), PEAT_OK);
    peat_node *S = peat_matmul(c->g, io.q, io.k, PEAT_TRANS_B);
    S = peat_scale(c->g, S, 1 / sqrt((double)h->dims.C));
    peat_node *n = h->scheme->logits(c, p, S, NULL);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

TEST(other_biases_are_added_behind_the_cosine)
{
    double alone[4];
    struct harness h;
    scheme_open(&h, "tapa", NULL, 1, 4, 2, true);
    const peat_call *c = content_call(&h, 2, NULL);
    peat_qkv p = content_qkv(&h, 2);
    peat_node *S = content_wave(&h, 1, 0, 4, (int64_t[]){1, 1, 2, 2});
    peat_node *bias = content_wave(&h, 1, 50, 4, (int64_t[]){1, 1, 2, 2});
    scheme_copy(h.scheme->logits(c, &p, S, NULL), 4, alone);
    peat_node *n = h.scheme->logits(c, &p, S, bias);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(harness_at(n, i), alone[i] + sin(51.0 + (double)i), 1e-15);
    harness_close(&h);
}

TEST(phases_of_0_leave_attention_as_it_is)
{
    const int64_t dim[] = {1, 1, 2, 4};
    const double q[] = {1, 2, 0, 0, 3, 4, 0, 0}, k[] = {5, 6, 9, 9, 7, 8, 9, 9};
    const double expected[] = {17, 23, 39, 53};
    struct harness h;
    scheme_open(&h, "tapa", NULL, 1, 4, 2, true);
    content_call(&h, 2, (double[]){0, 1000});
    peat_qkv p = {.size = sizeof(p), .q = harness_constant(&h, 4, dim, q)};
    p.k = harness_constant(&h, 4, dim, k);
    peat_node *n = logits(&h, &p);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(harness_at(n, i), expected[i] / sqrt(2), 1e-14);
    harness_close(&h);
}

enum { N = 32 };

/* The mean and the mean square of the logits of N queries at 0 with N keys that far away, one head
 * of 8. Amplitudes are 1; phases are drawn with a mean of 0 and a variance of 1. */
static void moments(double far, double *mean, double *square)
{
    double pos[2 * N], x[2 * N * 8];
    struct harness h;
    scheme_open(&h, "tapa", NULL, 1, 8, 2 * N, false);
    for (int64_t i = 0; i < 2 * N; i++)
        pos[i] = i < N ? 0 : far;
    content_call(&h, 2 * N, pos);
    for (int64_t i = 0; i < 2 * N * 8; i++) {
        double drawn = (double)peat_below(h.call.base.host, 7, (uint64_t)i, 1 << 20) * 0x1p-20;
        x[i] = i % 8 < 4 ? 1 : sqrt(12) * (drawn - 0.5);
    }
    peat_qkv p = {.size = sizeof(p)};
    p.q = p.k = harness_constant(&h, 4, (int64_t[]){1, 1, 2 * N, 8}, x);
    peat_node *n = logits(&h, &p);
    *mean = *square = 0;
    for (int64_t i = 0; i < N * N; i++) {
        double y = harness_at(n, i / N * 2 * N + N + i % N);
        *mean += y / (N * N);
        *square += y * y / (N * N);
    }
    harness_close(&h);
}

/* Theorems 3.2 and 3.3: 2 at distance 0; beyond, about 2 cos of a phase of any size. */
TEST(expected_logits_vanish_with_distance_and_their_spread_stays)
{
    const double far[] = {1, 100, 1e6};
    double mean, square;
    moments(0, &mean, &square);
    ck_assert_double_eq_tol(mean, 2, 1e-14);
    for (int i = 0; i < 3; i++) {
        moments(far[i], &mean, &square);
        ck_assert_double_lt(fabs(mean), 0.2);
        ck_assert_double_gt(square - mean * mean, 1.5);
    }
}

TEST(heads_without_both_parts_are_refused)
{
    scheme_refuses("tapa", "{\"theta\": 0.2}", 2, 4, 4, true,
                   "a head width of 4 has no dimension left for the amplitude: change theta");
    scheme_refuses("tapa", "{\"theta\": 1}", 2, 4, 4, true,
                   "a head width of 4 has no dimension left for the phase: change theta");
}

TEST(a_model_learns)
{
    content_gradients("tapa", NULL, PEAT_DECODER, PATH_AUTO);
    content_gradients("tapa", "{\"theta\": 0.3, \"alpha\": 0.5}", PEAT_ENCODER, PATH_AUTO);
    content_no_future("tapa", NULL);
    content_documents_are_apart("tapa", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("tapa")
