/* SPDX-License-Identifier: MIT */
/* The combination 'matrix_per_position'. Reference values: tests/golden/combinations.py. */
#include <math.h>
#include <stdio.h>

#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int32_t n,
                                int64_t *width)
{
    peat_dims dims = {.D = D, .H = 1, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, "matrix_per_position", json, &dims, n, stream, width);
}

static const double full_values[] = {-0.9000000000000001,
                                     0.4000000000000001,
                                     2.4,
                                     -1.9,
                                     2.0,
                                     0.30000000000000004,
                                     0.0,
                                     -2.4,
                                     -0.5000000000000001,
                                     1.8,
                                     -0.7999999999999998,
                                     0.10000000000000009,
                                     -1.9,
                                     0.20000000000000018,
                                     -1.2,
                                     -0.5000000000000001};
static const double low_rank_values[] = {-1.3199999999999998,
                                         -0.24000000000000002,
                                         1.68,
                                         -0.8799999999999999,
                                         0.5599999999999999,
                                         -0.72,
                                         -0.17999999999999994,
                                         -1.46,
                                         -0.42000000000000004,
                                         1.38,
                                         0.09999999999999998,
                                         0.64,
                                         -0.5999999999999999,
                                         0.6,
                                         -1.0,
                                         0.2};
static const double diagonal_values[] = {
    -0.6000000000000001, 0.0, 1.7999999999999998, -0.8, 0.6, -1.0, 0.7,
    -0.6000000000000001, 0.0, 1.2000000000000002, -0.6, 1.6, -0.6, 0.5,
    -2.0999999999999996, 0.0};
static const double block_rotation_values[] = {
    -1.2380034223645175, 0.8469637100925529,  1.3707652013643319,  -0.7880372851132127,
    1.178735908636303,   -0.7813972470461805, 1.2596315175473922,  -0.9556821856669999,
    0.8469637100925529,  1.2380034223645175,  -0.2913639581255596, 1.0794012432387723,
    -1.0794012432387723, 0.2913639581255596,  -1.2380034223645175, -0.8469637100925529};

/* (a i mod 7 - 3) / b */
static double ramp(int64_t i, int64_t a, double b)
{
    return (double)(a * i % 7 - 3) / b;
}

static peat_node *ramp_constant(struct harness *h, int64_t B, int64_t a, double b)
{
    double value[16];
    for (int64_t i = 0; i < B * 8; i++)
        value[i] = ramp(i, a, b);
    return harness_constant(h, 3, (int64_t[]){B, 2, 4}, value);
}

static void fill_weight(struct harness *h, int which, int64_t a, double b)
{
    struct tensor *t = &h->weights.item[which]->value;
    for (int64_t i = 0; i < tensor_count(t); i++)
        tensor_set(t, i, ramp(i, a, b));
}

/* Merges the reference input x [2,2,4]. */
static peat_node *merged(struct harness *h)
{
    const peat_call *c = harness_call(h, 2, 2, 1, NULL);
    peat_node *x = ramp_constant(h, 2, 3, 2);
    return h->combine->merge(c, 1, &x);
}

static void assert_values(const peat_node *y, const double *expected)
{
    ck_assert_int_eq(y->value.rank, 3);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), expected[i], 1e-13);
}

/* Sets one kind up with three positions and its tensors filled. */
static void open_kind(struct harness *h, const char *kind)
{
    char json[64];
    snprintf(json, sizeof(json), "{\"kind\": \"%s\", \"rank\": 2}", kind);
    ck_assert_int_eq(open_combine(h, json, 4, 1, (int64_t[]){0}), PEAT_OK);
    for (int i = 0; i < h->weights.n; i++)
        fill_weight(h, i, 2 + i, 5);
}

static void assert_kind(const char *kind, const double *expected)
{
    struct harness h;
    open_kind(&h, kind);
    assert_values(merged(&h), expected);
    harness_close(&h);
}

START_TEST(each_kind_does_what_its_formula_says)
{
    assert_kind("full", full_values);
    assert_kind("low_rank", low_rank_values);
    assert_kind("diagonal", diagonal_values);
    assert_kind("block_rotation", block_rotation_values);
}
END_TEST

START_TEST(other_streams_are_added)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    fill_weight(&h, 0, 2, 5);
    const peat_call *c = harness_call(&h, 2, 2, 1, NULL);
    peat_node *x = ramp_constant(&h, 2, 3, 2), *p = ramp_constant(&h, 1, 5, 4);
    const peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), full_values[i] + ramp(i % 8, 5, 4), 1e-13);
    harness_close(&h);
}
END_TEST

/* Positions of their own for each row: every row must use the matrices of its own. */
START_TEST(rows_may_have_different_positions)
{
    static const char *const kind[] = {"full", "low_rank", "diagonal", "block_rotation"};
    for (size_t k = 0; k < 4; k++) {
        struct harness h;
        open_kind(&h, kind[k]);
        const double straight[] = {0, 1}, both[] = {2, 1, 0, 1};
        const peat_call *c = harness_call(&h, 2, 2, 1, straight);
        peat_node *x = ramp_constant(&h, 2, 3, 2);
        const peat_node *y = h.combine->merge(c, 1, &x);
        double shared[16];
        for (int64_t i = 0; i < 16; i++)
            shared[i] = harness_at(y, i);
        c = harness_call(&h, 2, 2, 2, both);
        x = ramp_constant(&h, 2, 3, 2);
        y = h.combine->merge(c, 1, &x);
        bool moved = false;
        for (int64_t i = 0; i < 4; i++)
            moved = moved || fabs(harness_at(y, i) - shared[i]) > 1e-3;
        ck_assert(moved);
        for (int64_t i = 4; i < 16; i++)
            ck_assert_double_eq_tol(harness_at(y, i), shared[i], 1e-13);
        harness_close(&h);
    }
}
END_TEST

static int64_t parameters(const char *json)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, json, 4, 1, (int64_t[]){0}), PEAT_OK);
    int64_t n = weights_trainable(&h.weights);
    harness_close(&h);
    return n;
}

START_TEST(parameters_are_as_many_as_documented)
{
    ck_assert_int_eq(parameters(NULL), 3 * 16);
    ck_assert_int_eq(parameters("{\"max_len\": 10}"), 10 * 16);
    ck_assert_int_eq(parameters("{\"kind\": \"low_rank\", \"rank\": 3}"), 3 * 2 * 3 * 4);
    ck_assert_int_eq(parameters("{\"kind\": \"diagonal\"}"), 3 * 4);
    ck_assert_int_eq(parameters("{\"kind\": \"block_rotation\"}"), 3 * 2);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, "{\"max_len\": 2}", 4, 1, (int64_t[]){0}), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "has matrices for max_len = 2 positions, but sequences of 3 are "
                                 "evaluated; raise max_len");
    harness_close(&h);
    ck_assert_int_eq(open_combine(&h, "{\"kind\": \"block_rotation\"}", 5, 1, (int64_t[]){0}),
                     PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "rotates pairs of dimensions, and 5 is odd");
    harness_close(&h);
    open_kind(&h, "full");
    const double beyond[] = {0, 3};
    const peat_call *c = harness_call(&h, 2, 2, 1, beyond);
    peat_node *x = ramp_constant(&h, 2, 3, 2);
    ck_assert_ptr_null(h.combine->merge(c, 1, &x));
    ck_assert_str_eq(h.graph.err.text, "position 3 has no matrix: max_len is 3");
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"kind\": \"low_rank\", \"rank\": 2}",
                                       "{\"kind\": \"diagonal\"}",
                                       "{\"kind\": \"block_rotation\"}"};
    for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
        struct harness h;
        int64_t width[] = {0, 0};
        ck_assert_msg(open_combine(&h, json[i], 4, 2, width) == PEAT_OK, "%s", h.err.text);
        harness_gradcheck_merge(&h, 3, 2, (int64_t[]){2, 1, 2});
        harness_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matrix_per_position");
    TCase *t = tcase_create("matrix_per_position");
    tcase_add_test(t, each_kind_does_what_its_formula_says);
    tcase_add_test(t, other_streams_are_added);
    tcase_add_test(t, rows_may_have_different_positions);
    tcase_add_test(t, parameters_are_as_many_as_documented);
    tcase_add_test(t, what_cannot_be_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
