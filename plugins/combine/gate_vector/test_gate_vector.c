/* SPDX-License-Identifier: MIT */
/* The combination 'gate_vector'. Reference values: tests/golden/combinations.py. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int32_t n,
                                int64_t *width)
{
    peat_dims dims = {.D = D, .H = 1, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, "gate_vector", json, &dims, n, stream, width);
}

static const double gate_vector_values[] = {
    -1.242757847005124,   0.047674732449554724, 1.2779292029524658,   -0.5,
    0.7707931741234806,   -0.6993886461863887,  0.3263935876242632,   -1.096927615992188,
    -0.38437304736315775, 0.9875026035157897,   -0.24375130175789483, 0.23125390527368467,
    0.2793525126025086,   0.39054412522144955,  -0.906223984348675,   -0.15440277885071044};

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

START_TEST(each_dimension_has_its_gate)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, width), PEAT_OK);
    fill_weight(&h, 0, 2, 5);
    fill_weight(&h, 1, 4, 5);
    fill_weight(&h, 2, 3, 5);
    assert_values(merged(&h, 2), gate_vector_values);
    harness_close(&h);
}
END_TEST

START_TEST(it_has_2dd_plus_d_parameters)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 16 + 4);
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
    static const char *const json[] = {NULL};
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
    Suite *suite = suite_create("gate_vector");
    TCase *t = tcase_create("gate_vector");
    tcase_add_test(t, each_dimension_has_its_gate);
    tcase_add_test(t, it_has_2dd_plus_d_parameters);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
