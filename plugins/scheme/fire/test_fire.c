/* SPDX-License-Identifier: MIT */
/* The scheme 'fire' against a computed network; what its threshold does, and its gradient. */
#include "../scheme_tests.h"

enum { T = 4 };

static peat_node *bias(struct harness *h, const double *pos)
{
    peat_node *n = h->scheme->bias(harness_call(h, 1, T, 1, pos), NULL);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

/* c = 0.1, L = 0.25 * 8 * 1.25 = 2.5, width 3; w1, b1, w2 of element i: sin(1 + i + 10 tensor). */
TEST(logits_match_the_reference)
{
    const double expected[] = {
        -1.3370958655456202, -1.0329926453256746, -0.7997126759647943, -0.5919275586377224,
        -1.0329926453256746, -1.3370958655456202, -1.0329926453256746, -0.7997126759647943,
        -0.7997126759647943, -1.0329926453256746, -1.3370958655456202, -1.0329926453256746,
        -0.6937417116202103, -0.8704651273822972, -1.078452895765816,  -1.3370958655456202,
        1.370919770711286,   1.0417587797837609,  0.7462070850866609,  0.47508604620383027,
        1.0417587797837609,  1.370919770711286,   1.0417587797837609,  0.7462070850866609,
        0.7462070850866609,  1.0417587797837609,  1.370919770711286,   1.0417587797837609,
        0.6079346317266159,  0.838525911278748,   1.0909649048352081,  1.370919770711286};
    struct harness h;
    scheme_open(&h, "fire", "{\"width\": 3}", 2, 4, 8, false);
    scheme_wave(&h);
    tensor_set(&h.weights.item[0]->value, 0, 0.1);
    tensor_set(&h.weights.item[1]->value, 0, 1.25);
    scheme_assert(bias(&h, NULL), 2 * T * T, expected, 1e-13);
    harness_close(&h);
}

/* As long as every query stands below L the logits depend on the distance alone. */
TEST(below_the_threshold_only_distance_counts)
{
    const double near[] = {0, 1, 2, 3}, shifted[] = {6, 7, 8, 9};
    const char *const json[] = {"{\"init_threshold\": 10}", "{\"init_threshold\": 5}"};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        double moved = 0, first[2 * T * T];
        scheme_open(&h, "fire", json[i], 2, 4, 8, true);
        scheme_copy(bias(&h, near), 2 * T * T, first);
        peat_node *n = bias(&h, shifted);
        for (int64_t e = 0; e < 2 * T * T; e++)
            moved = fmax(moved, fabs(first[e] - harness_at(n, e)));
        if (i == 0)
            ck_assert_double_le(moved, 1e-14);
        else
            ck_assert_double_ge(moved, 1e-3);
        harness_close(&h);
    }
}

TEST(the_threshold_starts_at_a_quarter_of_what_is_trained)
{
    struct harness h;
    scheme_open(&h, "fire", NULL, 2, 4, 128, true);
    const struct value *v = value_get(h.positional.scheme[0].part.resolved, "init_threshold");
    ck_assert_int_eq(v->integer, 32);
    harness_close(&h);
}

TEST(gradients_are_exact)
{
    const char *low = "{\"width\": 4, \"init_threshold\": 2.5}";
    scheme_gradients("fire", low, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("fire", low, PEAT_ENCODER, PEAT_PER_LAYER);
}

PLUGIN_TESTS("fire")
