/* SPDX-License-Identifier: MIT */
/* The scheme 'rotary': its identities. */
#include "../scheme_tests.h"

TEST(products_depend_on_the_distance_alone)
{
    static const char *const json[] = {NULL, "{\"layout\": \"halves\"}", "{\"base\": 500}",
                                       "{\"fraction\": 0.5}"};
    for (size_t i = 0; i < 4; i++)
        scheme_products_follow_distance("rotary", json[i]);
}

TEST(norms_are_preserved)
{
    struct harness h;
    scheme_open(&h, "rotary", NULL, 1, 8, 4, false);
    peat_qkv io = scheme_turn_8(&h, 1234, 77);
    double norm = 0;
    for (int64_t i = 0; i < 8; i++)
        norm += harness_at(io.q, i) * harness_at(io.q, i);
    ck_assert_double_eq_tol(norm, 2.04, 1e-14);
    harness_close(&h);
}

/* floor(0.75 * 7 / 2) pairs: 4 dimensions turn with frequencies of width 4, 3 stay. */
TEST(a_fraction_turns_the_first_dimensions_and_leaves_the_rest)
{
    struct harness h;
    scheme_open(&h, "rotary", "{\"fraction\": 0.75}", 1, 7, 4, false);
    peat_qkv io = scheme_turn(&h, 2, (double[]){2, 0}, 7, scheme_q8, scheme_k8);
    ck_assert_int_eq(io.q->value.dim[3], 7);
    ck_assert_double_eq_tol(harness_at(io.q, 0), .1 * cos(2) - .2 * sin(2), 1e-15);
    ck_assert_double_eq_tol(harness_at(io.q, 3), .3 * sin(.02) + .4 * cos(.02), 1e-15);
    for (int64_t i = 4; i < 7; i++)
        ck_assert_double_eq(harness_at(io.q, i), scheme_q8[i]);
    harness_close(&h);
}

TEST(queries_and_keys_may_stand_at_different_positions)
{
    const double key_pos[] = {40, 41};
    const int64_t dim[] = {1, 1, 2, 8};
    double rows[16];
    struct harness h;
    scheme_open(&h, "rotary", NULL, 1, 8, 4, false);
    scheme_copy(scheme_turn(&h, 2, key_pos, 8, scheme_k8, scheme_k8).k, 16, rows);
    harness_call(&h, 1, 2, 1, NULL);
    peat_side keys = h.pass.span.rows;
    keys.pos = key_pos;
    h.call.base.k = &keys;
    h.scheme->prepare(&h.call.base, h.pass.shared[0]);
    double both[16];
    for (int64_t i = 0; i < 16; i++)
        both[i] = scheme_k8[i % 8];
    peat_qkv io = {.size = sizeof(io)};
    io.q = io.k = harness_constant(&h, 4, dim, both);
    ck_assert_int_eq(h.scheme->qkv(&h.call.base, &io), PEAT_OK);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq(harness_at(io.k, i), rows[i]);
    ck_assert_double_eq_tol(harness_at(io.q, 0), scheme_k8[0], 1e-15);
    harness_close(&h);
}

TEST(angles_can_be_inspected)
{
    struct harness h;
    scheme_open(&h, "rotary", NULL, 1, 8, 4, false);
    harness_call(&h, 1, 3, 1, NULL);
    ck_assert_int_eq(h.pass.n_probe, 1);
    ck_assert_str_eq(h.pass.probe[0].node->name, "angle");
    ck_assert_double_eq_tol(harness_at(h.pass.probe[0].node, 2 * 4 + 1), 0.2, 1e-15);
    harness_close(&h);
}

TEST(widths_without_pairs_are_refused)
{
    scheme_refuses("rotary", NULL, 1, 33, 4, false,
                   "a head width of 33 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even, or set fraction below 1");
    scheme_refuses("rotary", "{\"fraction\": 0.1}", 1, 16, 4, false,
                   "a head width of 16 does not split into pairs that turn: lower model.n_head or "
                   "raise fraction");
}

PLUGIN_TESTS("rotary")
