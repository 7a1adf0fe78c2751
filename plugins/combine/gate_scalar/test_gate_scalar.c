/* SPDX-License-Identifier: MIT */
/* The combination 'gate_scalar'. */
#include <math.h>

#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int64_t H,
                                int32_t n, int64_t *width)
{
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    return harness_combine(h, "gate_scalar", json, &dims, n, stream, width);
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

/* w_t = (1, 0), w_p = (0, 0.1), b = 2: scores 1 - 2 + 2 and 3 - 2 + 2. */
START_TEST(the_gate_mixes_token_and_position)
{
    struct harness h;
    merged(&h, NULL);
    const double value[] = {1, 0, 0, 0.1, 2};
    for (int64_t i = 0; i < 5; i++)
        tensor_set(&h.weights.item[i / 2]->value, i % 2, value[i]);
    const peat_call *c = harness_call(&h, 2, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){2, 1, 2}, (double[]){1, 2, 3, 4});
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 2}, (double[]){10, -20});
    peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    for (int64_t b = 0; b < 2; b++) {
        double gate = 1 / (1 + exp(b == 0 ? -1.0 : -3.0));
        ck_assert_double_eq_tol(harness_at(h.pass.probe[0], b), gate, 1e-14);
        for (int64_t i = 0; i < 2; i++) {
            double mixed = gate * harness_at(x, 2 * b + i) + (1 - gate) * harness_at(p, i);
            ck_assert_double_eq_tol(harness_at(y, 2 * b + i), mixed, 1e-13);
        }
    }
    harness_close(&h);
}
END_TEST

START_TEST(it_has_2d_plus_1_parameters)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, NULL, 32, 4, 2, width), PEAT_OK);
    ck_assert_int_eq(weights_trainable(&h.weights), 65);
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
    static const char *const json[] = {NULL};
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
    Suite *suite = suite_create("gate_scalar");
    TCase *t = tcase_create("gate_scalar");
    tcase_add_test(t, the_gate_mixes_token_and_position);
    tcase_add_test(t, it_has_2d_plus_1_parameters);
    tcase_add_test(t, a_stream_of_another_width_is_refused);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
