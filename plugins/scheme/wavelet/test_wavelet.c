/* SPDX-License-Identifier: MIT */
/* The scheme 'wavelet': the windows of its scales. */
#include "../content_tests.h"

/* Scales 1, 2, 4, 8 and shifts 0, 1. */
/* Scales 4, 8 and shifts 0 to 3. */
/* The table of distances 0, 1, ..., 6 [7, 8], of one head of 8 with shifts 0 and 1. */
static const peat_node *table(struct harness *h, double first)
{
    const double pos[] = {first, first + 6};
    scheme_open(h, "wavelet", NULL, 1, 8, 8, true);
    harness_call(h, 1, 2, 1, pos);
    return h->pass.shared[0][1];
}

/* A wavelet with scale a is 0 at a distance of a from its shift, and the same for any length. */
TEST(each_scale_is_a_window_around_its_shift)
{
    struct harness h;
    const peat_node *p = table(&h, 40);
    ck_assert_int_eq(p->value.dim[1], 7);
    for (int64_t i = 0; i < 8; i++) {
        int64_t a = 1 << i / 2, b = i % 2;
        ck_assert_double_eq_tol(harness_at(p, b * 8 + i), 1, 1e-15);
        if (a + b < 7)
            ck_assert_double_eq_tol(harness_at(p, (a + b) * 8 + i), 0, 1e-15);
    }
    harness_close(&h);
}

TEST(scales_leave_two_shifts_where_they_can)
{
    const struct {
        int64_t C, scales;
    } row[] = {{1, 1}, {2, 1}, {6, 3}, {7, 1}, {8, 4}, {12, 6}, {16, 8}, {64, 8}, {128, 8}};
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        struct harness h;
        scheme_open(&h, "wavelet", NULL, 1, row[i].C, 4, true);
        const struct value *v = value_get(h.positional.scheme[0].part.resolved, "scales");
        ck_assert_int_eq(v->integer, row[i].scales);
        harness_close(&h);
    }
}

TEST(scales_that_do_not_divide_the_head_are_refused)
{
    scheme_refuses("wavelet", "{\"scales\": 3}", 2, 8, 4, true,
                   "scales = 3 does not divide a head width of 8");
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("wavelet", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("wavelet", "{\"wavelet\": \"gaussian\"}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("wavelet", NULL, PEAT_DECODER);
    content_no_future("wavelet", NULL);
    content_documents_are_apart("wavelet", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("wavelet")
