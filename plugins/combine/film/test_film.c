/* SPDX-License-Identifier: MIT */
/* The combination 'film'. Reference values: tests/golden/combinations.py. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int32_t n,
                                int64_t *width)
{
    peat_dims dims = {.D = D, .H = 1, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, "film", json, &dims, n, stream, width);
}

static const double film_values[] = {-1.2250000000000003,
                                     0.75,
                                     1.9249999999999998,
                                     -1.2,
                                     -0.5999999999999999,
                                     -0.6000000000000001,
                                     0.625,
                                     -1.6499999999999997,
                                     0.3499999999999999,
                                     3.1500000000000004,
                                     -0.975,
                                     0.7500000000000001,
                                     -0.6000000000000001,
                                     0.975,
                                     -1.475,
                                     0.44999999999999996};

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

/* Merges the reference inputs, x [2,2,4] and p [1,2,4]. */
static peat_node *merged(struct harness *h, int32_t n)
{
    const peat_call *c = harness_call(h, 2, 2, 1, NULL);
    peat_node *x = ramp_constant(h, 2, 3, 2), *p = ramp_constant(h, 1, 5, 4);
    return h->combine->merge(c, n, (peat_node *[]){x, p});
}

static void assert_values(const peat_node *y, const double *expected)
{
    ck_assert_int_eq(y->value.rank, 3);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), expected[i], 1e-13);
}

START_TEST(position_scales_and_shifts)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, width), PEAT_OK);
    fill_weight(&h, 0, 2, 5);
    fill_weight(&h, 1, 4, 5);
    assert_values(merged(&h, 2), film_values);
    harness_close(&h);
}
END_TEST

START_TEST(it_starts_without_scaling)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    ck_assert_str_eq(h.weights.item[0]->name, "film.scale");
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq(tensor_get(&h.weights.item[0]->value, i), 0);
    tensor_fill(&h.weights.item[1]->value, 0);
    const peat_node *y = merged(&h, 2);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), ramp(i, 3, 2), 1e-13);
    harness_close(&h);
}
END_TEST

START_TEST(streams_may_have_any_width)
{
    struct harness h;
    int64_t width[] = {0, 0, 5};
    ck_assert_int_eq(open_combine(&h, "{\"d_pos\": 3}", 4, 3, width), PEAT_OK);
    ck_assert_int_eq(width[0], 4);
    ck_assert_int_eq(width[1], 3);
    ck_assert_int_eq(width[2], 5);
    ck_assert_int_eq(h.positional.D, 4);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 4 * 8);
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"d_pos\": 2}"};
    for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
        struct harness h;
        int64_t width[] = {0, 0, 0};
        ck_assert_msg(open_combine(&h, json[i], 4, 3, width) == PEAT_OK, "%s", h.err.text);
        harness_gradcheck_merge(&h, 3, 3, (int64_t[]){2, 1, 2});
        harness_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("film");
    TCase *t = tcase_create("film");
    tcase_add_test(t, position_scales_and_shifts);
    tcase_add_test(t, it_starts_without_scaling);
    tcase_add_test(t, streams_may_have_any_width);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
