/* SPDX-License-Identifier: MIT */
/* The combination 'concat_split'. */
#include "support/plugin_harness.h"
#include "support/support.h"

static const char *const stream[] = {"token", "position", "position.2"};

/* Sets the combine up for n streams of the given widths (0: free), filled in. */
static peat_status open_combine(struct harness *h, const char *json, int64_t D, int64_t H,
                                int32_t n, int64_t *width)
{
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 4, .T_max = 4};
    return harness_combine(h, "concat_split", json, &dims, n, stream, width);
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

static void assert_refused(const char *json, int64_t D, int64_t H, int32_t n, int64_t *width,
                           const char *text)
{
    struct harness h;
    ck_assert_int_eq(open_combine(&h, json, D, H, n, width), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

START_TEST(positions_take_their_width_from_the_tokens)
{
    assert_widths(NULL, 128, 4, 2, (int64_t[]){0, 0}, (int64_t[]){96, 32}, 128);
    assert_widths("{\"d_pos\": 16}", 64, 4, 3, (int64_t[]){0, 0, 0}, (int64_t[]){32, 16, 16}, 64);
    assert_widths("{\"d_pos\": 16}", 64, 4, 3, (int64_t[]){0, 3, 0}, (int64_t[]){45, 3, 16}, 64);
    assert_widths(NULL, 2, 1, 2, (int64_t[]){0, 0}, (int64_t[]){1, 1}, 2);
}
END_TEST

START_TEST(tokens_without_width_are_refused)
{
    assert_refused("{\"d_pos\": 64}", 128, 4, 3, (int64_t[]){0, 0, 0},
                   "positions would take 128 of the model's 128 dimensions and leave none for "
                   "tokens; lower d_pos");
}
END_TEST

START_TEST(streams_stand_side_by_side)
{
    struct harness h;
    int64_t width[] = {0, 0};
    ck_assert_int_eq(open_combine(&h, "{\"d_pos\": 1}", 3, 1, 2, width), PEAT_OK);
    const peat_call *c = harness_call(&h, 2, 1, 1, NULL);
    peat_node *x = harness_constant(&h, 3, (int64_t[]){2, 1, 2}, (double[]){1, 2, 3, 4});
    peat_node *p = harness_constant(&h, 3, (int64_t[]){1, 1, 1}, (double[]){9});
    peat_node *y = h.combine->merge(c, 2, (peat_node *[]){x, p});
    const double expected[] = {1, 2, 9, 3, 4, 9};
    ck_assert_int_eq(y->value.dim[2], 3);
    for (int64_t i = 0; i < 6; i++)
        ck_assert_double_eq(harness_at(y, i), expected[i]);
    harness_close(&h);
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    static const char *const json[] = {NULL, "{\"d_pos\": 2}"};
    for (size_t i = 0; i < sizeof(json) / sizeof(*json); i++) {
        struct harness h;
        int64_t width[] = {0, 0, 0};
        ck_assert_msg(open_combine(&h, json[i], 8, 2, 3, width) == PEAT_OK, "%s", h.err.text);
        harness_gradcheck_merge(&h, 3, 3, (int64_t[]){2, 1, 2});
        harness_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("concat_split");
    TCase *t = tcase_create("concat_split");
    tcase_add_test(t, positions_take_their_width_from_the_tokens);
    tcase_add_test(t, tokens_without_width_are_refused);
    tcase_add_test(t, streams_stand_side_by_side);
    tcase_add_test(t, gradients_are_right_for_every_stream_and_tensor);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
