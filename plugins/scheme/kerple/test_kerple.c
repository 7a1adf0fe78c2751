/* SPDX-License-Identifier: MIT */
/* The scheme 'kerple' against computed kernels; its bounds and gradient. */
#include "../scheme_tests.h"

static const double distance[] = {0, -1, -2, 3, -4, 5};

/* Two heads: r1 = 0.8, 0.3 and r2 = 1.5, 0.7. */
static void assert_golden(const char *json, const double expected[12])
{
    const double r[2][2] = {{0.8, 0.3}, {1.5, 0.7}};
    struct harness h;
    scheme_open(&h, "kerple", json, 2, 4, 8, true);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < 2; i++)
            tensor_set(&h.weights.item[k]->value, i, r[k][i]);
    scheme_assert(scheme_bias_rel(&h, 6, distance), 12, expected, 1e-14);
    harness_close(&h);
}

START_TEST(log_kernels_match_the_reference)
{
    const double expected[] = {-0.0,
                               -0.733032585499324,
                               -1.1090354888959124,
                               -1.3637984737907403,
                               -1.5567281192442506,
                               -1.7120529307970167,
                               -0.0,
                               -0.1591884753186511,
                               -0.26264062120616993,
                               -0.3394206334473301,
                               -0.400500320019702,
                               -0.45122321903288215};
    assert_golden(NULL, expected);
}
END_TEST

START_TEST(power_kernels_match_the_reference)
{
    const double expected[] = {-0.0,
                               -0.8,
                               -2.2627416997969525,
                               -4.156921938165306,
                               -6.4,
                               -8.944271909999157,
                               -0.0,
                               -0.3,
                               -0.48735143781374124,
                               -0.6473007839923778,
                               -0.7917047464637365,
                               -0.9255507940800143};
    assert_golden("{\"kind\": \"power\"}", expected);
}
END_TEST

START_TEST(tensors_start_inside_their_bounds_and_are_kept_there)
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
END_TEST

START_TEST(gradients_are_exact)
{
    scheme_gradients("kerple", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("kerple", NULL, PEAT_ENCODER, PEAT_PER_LAYER);
    scheme_gradients("kerple", "{\"kind\": \"power\"}", PEAT_DECODER, PEAT_PER_LAYER);
    scheme_gradients("kerple", "{\"kind\": \"power\"}", PEAT_ENCODER, PEAT_ONCE);
}
END_TEST

PLUGIN_TESTS("kerple", log_kernels_match_the_reference, power_kernels_match_the_reference,
             tensors_start_inside_their_bounds_and_are_kept_there, gradients_are_exact)
