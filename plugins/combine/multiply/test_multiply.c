/* SPDX-License-Identifier: MIT */
/* The combination 'multiply'. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int64_t H,
                                int32_t n, int64_t *width)
{
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    return harness_combine(h, "multiply", json, &dims, n, stream, width);
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

START_TEST(product_multiplies_elements)
{
    assert_values(NULL, (double[]){10, -40, 30, -80});
}
END_TEST

START_TEST(one_plus_leaves_tokens_where_position_is_zero)
{
    assert_values("{\"form\": \"one_plus\"}", (double[]){11, -38, 33, -76});
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
    static const char *const json[] = {NULL, "{\"form\": \"one_plus\"}"};
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
    Suite *suite = suite_create("multiply");
    TCase *t = tcase_create("multiply");
    tcase_add_test(t, product_multiplies_elements);
    tcase_add_test(t, one_plus_leaves_tokens_where_position_is_zero);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
