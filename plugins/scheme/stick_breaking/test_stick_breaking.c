/* SPDX-License-Identifier: MIT */
/* The scheme 'stick_breaking' against products of what is left; masks, its rest and its gradient.
 */
#include "../content_tests.h"

enum { T = 4 };

/* Weights of one row of 4 tokens; keys below `first` are masked. */
static void attend(const char *json, int64_t first, const double *S, double *A)
{
    double mask[T * T];
    struct harness h;
    for (int64_t i = 0; i < T * T; i++)
        mask[i] = i % T <= i / T && i % T >= first;
    scheme_open(&h, "stick_breaking", json, 1, 2, T, true);
    const peat_call *c = content_call(&h, T, NULL);
    const int64_t dim[] = {1, 1, T, T};
    h.call.base.mask = harness_constant(&h, 4, dim, mask);
    peat_node *s = harness_constant(&h, 4, dim, S);
    scheme_copy(h.scheme->softmax(c, NULL, s, NULL), T * T, A);
    ck_assert_str_eq(h.pass.probe[0].node->name, "rest");
    harness_close(&h);
}

static void waves(double *S)
{
    for (int i = 0; i < T * T; i++)
        S[i] = 2 * sin(1 + i + 200.0);
}

/* The rest of each row, 1 minus its sum, is on the diagonal. */
static const double expected[] = {1.0,
                                  0.0,
                                  0.0,
                                  0.0,
                                  0.19313062519628335,
                                  0.8068693748037167,
                                  0.0,
                                  0.0,
                                  0.2480191756164328,
                                  0.7181770393088709,
                                  0.03380378507469631,
                                  0.0,
                                  0.009488707887135432,
                                  0.08318275864350291,
                                  0.8765861064604136,
                                  0.030742427008948085};

TEST(weights_match_the_reference)
{
    double S[T * T], A[T * T];
    waves(S);
    attend(NULL, 0, S, A);
    for (int64_t i = 0; i < T * T; i++)
        ck_assert_double_eq_tol(A[i], i % (T + 1) == 0 ? 0 : expected[i], 1e-14);
}

TEST(the_rest_can_go_to_the_own_value)
{
    double S[T * T], A[T * T];
    waves(S);
    attend("{\"rest\": \"own\"}", 0, S, A);
    for (int64_t i = 0; i < T * T; i++)
        ck_assert_double_eq_tol(A[i], expected[i], 1e-14);
}

/* A key that is masked takes nothing, whatever its score, and leaves the stick whole. */
TEST(masked_keys_take_nothing)
{
    double S[T * T], A[T * T], again[T * T];
    waves(S);
    attend(NULL, 2, S, A);
    for (int64_t i = 0; i < T * T; i++)
        S[i] = i % T < 2 || i % T > i / T ? 700 : S[i];
    attend(NULL, 2, S, again);
    ck_assert_double_eq(content_distance(A, again, T * T), 0);
    ck_assert_double_eq_tol(A[3 * T + 2], 1 / (1 + exp(-S[3 * T + 2])), 1e-14);
}

/* The nearest key takes all: what is behind it gets nothing, though softmax would share. */
TEST(a_key_that_takes_all_hides_those_behind)
{
    double S[T * T], A[T * T];
    for (int i = 0; i < T * T; i++)
        S[i] = 60;
    attend(NULL, 0, S, A);
    for (int64_t i = 0; i < T * T; i++)
        ck_assert_double_eq_tol(A[i], i % T == i / T - 1, 1e-14);
}

TEST(encoders_are_refused)
{
    scheme_refuses_encoders("stick_breaking");
}

TEST(a_model_learns)
{
    scheme_gradients("stick_breaking", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("stick_breaking", "{\"rest\": \"own\"}", PEAT_DECODER, PEAT_ONCE);
    content_no_future("stick_breaking", NULL);
    content_documents_are_apart("stick_breaking", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("stick_breaking")
