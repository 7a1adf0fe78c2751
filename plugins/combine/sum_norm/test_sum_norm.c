/* SPDX-License-Identifier: MIT */
/* The combination 'sum_norm'. Reference values: tests/golden/combinations.py. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int32_t n,
                                int64_t *width)
{
    peat_dims dims = {.D = D, .H = 1, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, "sum_norm", json, &dims, n, stream, width);
}

static const double sum_norm_values[] = {
    0.2113379534315143,    -0.11341283220010416, 0.8529978564463863,  -0.4878941125079567,
    -1.4212630929949859,   0.0684385910829155,   0.6684385910829155,  -1.021263092994986,
    -0.012627912681066555, -0.3109616932864942,  0.4502777032324287,  -0.0963461022378353,
    -0.7653953539259913,   -0.27565892320998564, 0.32434107679001434, -0.3653953539259914};

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

START_TEST(the_sum_is_normalised)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, "{\"eps\": 0.01}", 4, 2, width), PEAT_OK);
    fill_weight(&h, 0, 2, 5);
    fill_weight(&h, 1, 3, 5);
    assert_values(merged(&h, 2), sum_norm_values);
    harness_close(&h);
}
END_TEST

START_TEST(the_norm_does_not_decay)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    ck_assert_int_eq(h.weights.n, 2);
    ck_assert(!h.weights.item[0]->decay && !h.weights.item[1]->decay);
    ck_assert_double_eq(tensor_get(&h.weights.item[0]->value, 3), 1);
    ck_assert_double_eq(tensor_get(&h.weights.item[1]->value, 3), 0);
    harness_close(&h);
}
END_TEST

START_TEST(tokens_alone_are_normalised_too)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 1, (int64_t[]){0}), PEAT_OK);
    const peat_node *y = merged(&h, 1);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 4; i++) {
        sum += harness_at(y, i);
        squares += harness_at(y, i) * harness_at(y, i);
    }
    ck_assert_double_eq_tol(sum, 0, 1e-13);
    ck_assert_double_eq_tol(squares, 4, 1e-9);
    harness_close(&h);
}
END_TEST

START_TEST(a_stream_of_another_width_is_refused)
{
    struct harness h;
    int64_t width[] = {0, 6};
    ck_assert_int_eq(open_combine(&h, NULL, 8, 2, width), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "all streams must be as wide as the model, 8, but 'position' is "
                                 "always 6 wide");
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"eps\": 0.5}"};
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
    Suite *suite = suite_create("sum_norm");
    TCase *t = tcase_create("sum_norm");
    tcase_add_test(t, the_sum_is_normalised);
    tcase_add_test(t, the_norm_does_not_decay);
    tcase_add_test(t, tokens_alone_are_normalised_too);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
