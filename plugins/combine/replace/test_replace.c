/* SPDX-License-Identifier: MIT */
/* The combination 'replace'. Reference values: tests/golden/combinations.py. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int32_t n,
                                int64_t *width)
{
    peat_dims dims = {.D = D, .H = 1, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, "replace", json, &dims, n, stream, width);
}

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

/* Merges the reference inputs, x [2,2,4] and p [1,2,4]. */
static peat_node *merged(struct harness *h, int32_t n)
{
    const peat_call *c = harness_call(h, 2, 2, 1, NULL);
    peat_node *x = ramp_constant(h, 2, 3, 2), *p = ramp_constant(h, 1, 5, 4);
    return h->combine->merge(c, n, (peat_node *[]){x, p});
}

START_TEST(position_is_all_that_is_left)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    ck_assert_int_eq(h.weights.n, 0);
    const peat_node *y = merged(&h, 2);
    ck_assert_int_eq(y->value.dim[0], 2);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(y, i), ramp(i % 8, 5, 4), 1e-14);
    harness_close(&h);
}
END_TEST

/* The engine refuses tensors that nothing depends on: the token table must not be one. */
START_TEST(tokens_keep_a_gradient_of_zero)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, NULL, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    const peat_call *c = harness_call(&h, 1, 1, 1, NULL);
    const double one[] = {1, 2, 3, 4};
    struct tensor value = tensor_new(&h.step, PEAT_F64, 3, (int64_t[]){1, 1, 4});
    for (int64_t i = 0; i < 4; i++)
        tensor_set(&value, i, one[i]);
    peat_node *x = graph_leaf(&h.graph, &value, NULL, "x");
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 4}, one);
    peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    peat_node *loss = peat_reshape(c->g, peat_sum(c->g, y, -1), 1, (int64_t[]){1});
    graph_backward(&h.graph, loss);
    ck_assert(x->reached);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq(tensor_get(&x->grad, i), 0);
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
    Suite *suite = suite_create("replace");
    TCase *t = tcase_create("replace");
    tcase_add_test(t, position_is_all_that_is_left);
    tcase_add_test(t, tokens_keep_a_gradient_of_zero);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
