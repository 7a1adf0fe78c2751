/* SPDX-License-Identifier: MIT */
/* The scheme 'kerple': its bounds and gradient. */
#include "../scheme_tests.h"

TEST(tensors_start_inside_their_bounds_and_are_kept_there)
{
    const struct {
        const char *json;
        double start[2], hi[2];
    } row[] = {
        {"{\"kind\": \"log\"}", {2, 1}, {1e6, 1e6}},
        {"{\"kind\": \"power\"}", {1, 2}, {1e6, 2}},
    };
    for (size_t i = 0; i < 2; i++) {
        struct harness h;
        scheme_open(&h, "kerple", row[i].json, 64, 1, 8, true);
        for (int k = 0; k < 2; k++) {
            const struct weight *w = h.weights.item[k];
            double most = 0;
            ck_assert(w->bounded);
            ck_assert_double_eq(w->lo, 0.01);
            ck_assert_double_eq(w->hi, row[i].hi[k]);
            for (int64_t e = 0; e < 64; e++) {
                ck_assert_double_ge(tensor_get(&w->value, e), 0.01);
                most = fmax(most, tensor_get(&w->value, e));
            }
            ck_assert_double_lt(most, row[i].start[k]);
            ck_assert_double_gt(most, 0.8 * row[i].start[k]);
        }
        harness_close(&h);
    }
}

TEST(gradients_are_exact)
{
    scheme_gradients("kerple", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("kerple", NULL, PEAT_ENCODER, PEAT_PER_LAYER);
    scheme_gradients("kerple", "{\"kind\": \"power\"}", PEAT_DECODER, PEAT_PER_LAYER);
    scheme_gradients("kerple", "{\"kind\": \"power\"}", PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("kerple")
