/* SPDX-License-Identifier: MIT */
/* The combination 'concat_project'. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int64_t H,
                                int32_t n, int64_t *width)
{
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    return harness_combine(h, "concat_project", json, &dims, n, stream, width);
}

static void assert_widths(const char *json, int64_t D, int64_t H, int32_t n, int64_t *width,
                          const int64_t *expected, int64_t final)
{
    struct harness h;
    ck_assert_msg(open_combine(&h, json, D, H, n, width) == PEAT_OK, "%s", h.err.text);
    for (int32_t i = 0; i < n; i++)
        ck_assert_int_eq(width[i], expected[i]);
    ck_assert_int_eq(h.positional.D, final);
    harness_close(&h);
}

START_TEST(every_stream_is_as_wide_as_the_model_unless_told)
{
    assert_widths(NULL, 64, 4, 2, (int64_t[]){0, 0}, (int64_t[]){64, 64}, 64);
    assert_widths("{\"d_pos\": 7}", 64, 4, 3, (int64_t[]){0, 0, 5}, (int64_t[]){64, 7, 5}, 64);
}
END_TEST

START_TEST(the_matrix_acts_on_the_streams_side_by_side)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, "{\"d_pos\": 1}", 2, 1, 2, width), PEAT_OK);
    const double weight[] = {1, 2, 3, -4, 5, -6}, bias[] = {100, 200};
    for (int64_t i = 0; i < 6; i++)
        tensor_set(&h.weights.item[0]->value, i, weight[i]);
    for (int64_t i = 0; i < 2; i++)
        tensor_set(&h.weights.item[1]->value, i, bias[i]);
    const peat_call *c = harness_call(&h, 2, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){2, 1, 2}, (double[]){1, 2, 3, 4});
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 1}, (double[]){10});
    peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    const double expected[] = {135, 146, 141, 148};
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(harness_at(y, i), expected[i], 1e-12);
    harness_close(&h);
}
END_TEST

START_TEST(parameters_are_counted_and_start_at_their_scale)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, NULL, 64, 4, 2, width), PEAT_OK);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 64 * 64 + 64);
    const struct tensor *weight = &h.weights.item[0]->value;
    double squares = 0;
    for (int64_t i = 0; i < 2 * 64 * 64; i++)
        squares += tensor_get(weight, i) * tensor_get(weight, i);
    ck_assert_double_eq_tol(squares / 64, 1, 0.1);
    harness_close(&h);
    ck_assert_int_eq(open_combine(&h, "{\"bias\": false}", 64, 4, 2, (int64_t[]){0, 0}), PEAT_OK);
    ck_assert_int_eq(weights_trainable(&h.weights), 2 * 64 * 64);
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"bias\": false, \"d_pos\": 2}"};
    for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
        struct harness h;
        int64_t width[] = {0, 0, 0};
        ck_assert_msg(open_combine(&h, json[i], 4, 2, 3, width) == PEAT_OK, "%s", h.err.text);
        harness_gradcheck_merge(&h, 3, 3, (int64_t[]){2, 1, 2});
        harness_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("concat_project");
    TCase *t = tcase_create("concat_project");
    tcase_add_test(t, every_stream_is_as_wide_as_the_model_unless_told);
    tcase_add_test(t, the_matrix_acts_on_the_streams_side_by_side);
    tcase_add_test(t, parameters_are_counted_and_start_at_their_scale);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
