/* SPDX-License-Identifier: MIT */
/* The scheme 'rotary' against computed rotations and its identities. */
#include <math.h>
#include <string.h>

#include "support/plugin_harness.h"
#include "support/support.h"

static const double q8[] = {.1, .2, .3, .4, .5, .6, .7, .8};
static const double k8[] = {.8, .7, .6, .5, .4, .3, .2, .1};

static void open_rotary(struct harness *h, const char *json, int64_t C)
{
    peat_dims dims = {.D = C, .H = 1, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    ck_assert_msg(harness_scheme(h, "rotary", json, &dims) == PEAT_OK, "%s", h->err.text);
}

/* One head, one query at position m and one key at n; the hook's results. */
static peat_qkv turn(struct harness *h, double m, double n, int64_t C, const double *q,
                     const double *k)
{
    const double pos[] = {m, n};
    double both_q[64], both_k[64];
    harness_call(h, 1, 2, 1, pos);
    memcpy(both_q, q, (size_t)C * sizeof(*q));
    memcpy(both_q + C, q, (size_t)C * sizeof(*q));
    memcpy(both_k, k, (size_t)C * sizeof(*k));
    memcpy(both_k + C, k, (size_t)C * sizeof(*k));
    const int64_t dim[] = {1, 1, 2, C};
    peat_qkv io = {.size = sizeof(io)};
    io.q = harness_constant(h, 4, dim, both_q);
    io.k = harness_constant(h, 4, dim, both_k);
    ck_assert_int_eq(h->scheme->qkv(&h->call.base, &io), PEAT_OK);
    return io;
}

static double product(struct harness *h, double m, double n)
{
    peat_qkv io = turn(h, m, n, 8, q8, k8);
    double sum = 0;
    for (int64_t i = 0; i < 8; i++)
        sum += harness_at(io.q, i) * harness_at(io.k, 8 + i);
    return sum;
}

static void assert_golden(const char *json, const double expected[8], double dot)
{
    struct harness h;
    open_rotary(&h, json, 8);
    peat_qkv io = turn(&h, 3, 1, 8, q8, k8);
    for (int64_t i = 0; i < 8; i++)
        ck_assert_double_eq_tol(harness_at(io.q, i), expected[i], 1e-14);
    ck_assert_double_eq_tol(product(&h, 3, 1), dot, 1e-14);
    ck_assert_double_eq_tol(product(&h, 0, 0), 1.2, 1e-14);
    harness_close(&h);
}

START_TEST(interleaved_pairs_match_the_reference)
{
    const double expected[] = {-0.127223251272018, -0.18388649851410238, 0.16839286407314596,
                               0.4707906576486443, 0.48177771675299647,  0.6147277703506404,
                               0.6975968536023608, 0.8020963968527014};
    assert_golden(NULL, expected, 0.7790996700044799);
}
END_TEST

START_TEST(halves_match_the_reference)
{
    const double expected[] = {-0.16955925368997815, 0.013755173828317452, 0.27886815998294934,
                               0.3975982036013484,   -0.480884247494236,   0.6323059348076315,
                               0.7086836736850401,   0.8011963982027008};
    assert_golden("{\"layout\": \"halves\"}", expected, 0.3902480805364217);
}
END_TEST

START_TEST(products_depend_on_the_distance_alone)
{
    static const char *const json[] = {NULL, "{\"layout\": \"halves\"}", "{\"base\": 500}",
                                       "{\"fraction\": 0.5}"};
    for (size_t i = 0; i < 4; i++) {
        struct harness h;
        open_rotary(&h, json[i], 8);
        double at = product(&h, 5, 2);
        ck_assert_double_eq_tol(product(&h, 105, 102), at, 1e-13);
        ck_assert_double_eq_tol(product(&h, 1005, 1002), at, 1e-12);
        ck_assert_double_ge(fabs(product(&h, 5, 3) - at), 1e-3);
        harness_close(&h);
    }
}
END_TEST

START_TEST(norms_are_preserved)
{
    struct harness h;
    open_rotary(&h, NULL, 8);
    peat_qkv io = turn(&h, 1234, 77, 8, q8, k8);
    double norm = 0;
    for (int64_t i = 0; i < 8; i++)
        norm += harness_at(io.q, i) * harness_at(io.q, i);
    ck_assert_double_eq_tol(norm, 2.04, 1e-14);
    harness_close(&h);
}
END_TEST

/* floor(0.75 * 7 / 2) pairs: 4 dimensions turn with frequencies of width 4, 3 stay. */
START_TEST(a_fraction_turns_the_first_dimensions_and_leaves_the_rest)
{
    struct harness h;
    open_rotary(&h, "{\"fraction\": 0.75}", 7);
    peat_qkv io = turn(&h, 2, 0, 7, q8, k8);
    ck_assert_int_eq(io.q->value.dim[3], 7);
    ck_assert_double_eq_tol(harness_at(io.q, 0), .1 * cos(2) - .2 * sin(2), 1e-15);
    ck_assert_double_eq_tol(harness_at(io.q, 3), .3 * sin(.02) + .4 * cos(.02), 1e-15);
    for (int64_t i = 4; i < 7; i++)
        ck_assert_double_eq(harness_at(io.q, i), q8[i]);
    harness_close(&h);
}
END_TEST

START_TEST(queries_and_keys_may_stand_at_different_positions)
{
    const double key_pos[] = {40, 41};
    const int64_t dim[] = {1, 1, 2, 8};
    double rows[16];
    struct harness h;
    open_rotary(&h, NULL, 8);
    peat_qkv same = turn(&h, 40, 41, 8, k8, k8);
    for (int64_t i = 0; i < 16; i++)
        rows[i] = harness_at(same.k, i);
    harness_call(&h, 1, 2, 1, NULL);
    peat_side keys = h.pass.side;
    keys.pos = key_pos;
    h.call.base.k = &keys;
    h.scheme->prepare(&h.call.base, h.pass.shared[0]);
    double both[16];
    for (int64_t i = 0; i < 16; i++)
        both[i] = k8[i % 8];
    peat_qkv io = {.size = sizeof(io)};
    io.q = io.k = harness_constant(&h, 4, dim, both);
    ck_assert_int_eq(h.scheme->qkv(&h.call.base, &io), PEAT_OK);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq(harness_at(io.k, i), rows[i]);
    ck_assert_double_eq_tol(harness_at(io.q, 0), k8[0], 1e-15);
    harness_close(&h);
}
END_TEST

START_TEST(angles_can_be_inspected)
{
    struct harness h;
    open_rotary(&h, NULL, 8);
    harness_call(&h, 1, 3, 1, NULL);
    ck_assert_int_eq(h.pass.n_probe, 1);
    ck_assert_str_eq(h.pass.probe[0]->name, "angle");
    ck_assert_double_eq_tol(harness_at(h.pass.probe[0], 2 * 4 + 1), 0.2, 1e-15);
    harness_close(&h);
}
END_TEST

static void assert_refused(const char *json, int64_t C, const char *text)
{
    struct harness h;
    peat_dims dims = {.D = C, .H = 1, .T_train = 4, .T_max = 4};
    ck_assert_int_eq(harness_scheme(&h, "rotary", json, &dims), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

START_TEST(widths_without_pairs_are_refused)
{
    assert_refused(NULL, 33,
                   "a head width of 33 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even, or set fraction below 1");
    assert_refused("{\"fraction\": 0.1}", 16,
                   "a head width of 16 does not split into pairs that turn: lower model.n_head or "
                   "raise fraction");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rotary");
    TCase *t = tcase_create("rotary");
    tcase_add_test(t, interleaved_pairs_match_the_reference);
    tcase_add_test(t, halves_match_the_reference);
    tcase_add_test(t, products_depend_on_the_distance_alone);
    tcase_add_test(t, norms_are_preserved);
    tcase_add_test(t, a_fraction_turns_the_first_dimensions_and_leaves_the_rest);
    tcase_add_test(t, queries_and_keys_may_stand_at_different_positions);
    tcase_add_test(t, angles_can_be_inspected);
    tcase_add_test(t, widths_without_pairs_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
