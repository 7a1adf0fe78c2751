/* SPDX-License-Identifier: MIT */
/* The combination 'sum'. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int64_t H,
                                int32_t n, int64_t *width)
{
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    return harness_combine(h, "sum", json, &dims, n, stream, width);
}

/* Merges x [2,1,2] with positions [1,1,2]. */
static peat_node *merged(struct harness *h, const char *json)
{
    int64_t width[] = {0, 0};
    ck_assert_msg(open_combine(h, json, 2, 1, 2, width) == PEAT_OK, "%s", h->err.text);
    ck_assert_int_eq(width[0], 2);
    ck_assert_int_eq(width[1], 2);
    ck_assert_int_eq(h->positional.D, 2);
    const peat_call *c = harness_call(h, 2, 1, 1, NULL);
    peat_node *x = harness_constant(h, 3, (int64_t[]){2, 1, 2}, (double[]){1, 2, 3, 4});
    peat_node *p = harness_constant(h, 3, (int64_t[]){1, 1, 2}, (double[]){10, -20});
    return h->combine->merge(c, 2, (peat_node *[]){x, p});
}

static void assert_values(const char *json, const double expected[4])
{
    struct harness h;
    peat_node *y = merged(&h, json);
    ck_assert_int_eq(y->value.dim[0], 2);
    ck_assert_int_eq(y->value.dim[2], 2);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(harness_at(y, i), expected[i], 1e-14);
    harness_close(&h);
}

START_TEST(streams_are_added)
{
    assert_values(NULL, (double[]){11, -18, 13, -16});
}
END_TEST

START_TEST(scales_multiply_tokens_and_positions)
{
    assert_values("{\"token_scale\": 2, \"position_scale\": 0.5}", (double[]){7, -6, 11, -2});
}
END_TEST

START_TEST(learned_scales_start_at_the_given_ones_and_do_not_decay)
{
    struct harness h;
    peat_node *y = merged(&h, "{\"token_scale\": 2, \"position_scale\": 0.5, \"learned\": true}");
    ck_assert_double_eq_tol(harness_at(y, 0), 7, 1e-14);
    ck_assert_int_eq(h.weights.n, 2);
    ck_assert_str_eq(h.weights.item[0]->name, "sum.token");
    ck_assert_str_eq(h.weights.item[1]->name, "sum.position");
    ck_assert(!h.weights.item[0]->decay && !h.weights.item[1]->decay);
    harness_close(&h);
}
END_TEST

START_TEST(factors_per_dimension_are_trained_one_by_one)
{
    struct harness h;
    peat_node *y = merged(&h, "{\"learned\": true, \"per_dimension\": true}");
    ck_assert_double_eq_tol(harness_at(y, 0), 11, 1e-14);
    ck_assert_int_eq(weights_trainable(&h.weights), 4);
    tensor_set(&h.weights.item[1]->value, 1, 0.5);
    const peat_call *c = harness_call(&h, 1, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){1, 1, 2}, (double[]){1, 2});
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 2}, (double[]){10, -20});
    y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    ck_assert_double_eq_tol(harness_at(y, 0), 11, 1e-14);
    ck_assert_double_eq_tol(harness_at(y, 1), -8, 1e-14);
    harness_close(&h);
}
END_TEST

START_TEST(factors_per_dimension_must_be_learned)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, "{\"per_dimension\": true}", 2, 1, 2, width), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "per_dimension is about learned factors: set learned to true");
    harness_close(&h);
}
END_TEST

/* Without a position to add, all combinations are the same model. */
START_TEST(a_single_stream_passes_unchanged)
{
    struct harness h;
    int64_t width[] = {0};
    ck_assert_int_eq(open_combine(&h, "{\"token_scale\": 2, \"learned\": true}", 2, 1, 1, width),
                     PEAT_OK);
    ck_assert_int_eq(h.weights.n, 0);
    const peat_call *c = harness_call(&h, 1, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){1, 1, 2}, (double[]){1, 2});
    ck_assert_ptr_eq(h.combine->merge(c, 1, &x), x);
    harness_close(&h);
}
END_TEST

START_TEST(a_stream_of_another_width_is_refused)
{
    struct harness h;
    int64_t width[] = {0, 6};
    ck_assert_int_eq(open_combine(&h, NULL, 8, 2, 2, width), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "all streams must be as wide as the model, 8, but 'position' is "
                                 "always 6 wide");
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"token_scale\": 2, \"position_scale\": -3}",
                                       "{\"learned\": true}",
                                       "{\"learned\": true, \"per_dimension\": true}"};
    for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
        struct harness h;
        int64_t width[] = {0, 0, 0};
        ck_assert_msg(open_combine(&h, json[i], 6, 2, 3, width) == PEAT_OK, "%s", h.err.text);
        harness_gradcheck_merge(&h, 3, 3, (int64_t[]){2, 1, 2});
        harness_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sum");
    TCase *t = tcase_create("sum");
    tcase_add_test(t, streams_are_added);
    tcase_add_test(t, scales_multiply_tokens_and_positions);
    tcase_add_test(t, learned_scales_start_at_the_given_ones_and_do_not_decay);
    tcase_add_test(t, factors_per_dimension_are_trained_one_by_one);
    tcase_add_test(t, factors_per_dimension_must_be_learned);
    tcase_add_test(t, a_single_stream_passes_unchanged);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
