/* SPDX-License-Identifier: MIT */
/* The scheme 'polar' against computed products; its phases and gradient. */
#include "../scheme_tests.h"

static const double q4[] = {.1, -.2, .3, .4};
static const double k4[] = {-.8, .7, .6, -.5};
static const double pos[] = {0, 3, 20};

/* phase_i = -sin(1 + i)^2 */
static peat_qkv turned(struct harness *h, const double *at)
{
    scheme_open(h, "polar", NULL, 1, 4, 8, true);
    for (int64_t i = 0; i < 4; i++)
        tensor_set(&h->weights.item[0]->value, i, -pow(sin((double)(1 + i)), 2));
    return scheme_turn(h, 3, at, 4, q4, k4);
}

TEST(products_match_the_reference)
{
    const double expected[] = {1.9066806225947075, 1.6388053705825947, 1.7455989273162924,
                               1.2986735485834526, 1.9066806225947075, 1.4375396519882073,
                               0.5182083869367189, 0.8061150406088824, 1.9066806225947077};
    struct harness h;
    peat_qkv io = turned(&h, pos);
    ck_assert_int_eq(io.q->value.dim[3], 8);
    for (int64_t i = 0; i < 9; i++)
        ck_assert_double_eq_tol(scheme_product(&io, i / 3, i % 3), expected[i], 1e-14);
    harness_close(&h);
}

TEST(products_depend_on_the_distance_alone)
{
    const double shifted[] = {70, 73, 90};
    struct harness a, b;
    peat_qkv x = turned(&a, pos), y = turned(&b, shifted);
    for (int64_t i = 0; i < 9; i++)
        ck_assert_double_eq_tol(scheme_product(&x, i / 3, i % 3), scheme_product(&y, i / 3, i % 3),
                                1e-13);
    harness_close(&a);
    harness_close(&b);
}

/* The length of component i of a query is softplus(q_i), wherever it stands. */
TEST(lengths_hold_the_content)
{
    struct harness h;
    peat_qkv io = turned(&h, pos);
    for (int64_t t = 0; t < 3; t++)
        for (int64_t i = 0; i < 4; i++)
            ck_assert_double_eq_tol(
                hypot(harness_at(io.q, 8 * t + i), harness_at(io.q, 8 * t + 4 + i)),
                log1p(exp(q4[i])), 1e-14);
    harness_close(&h);
}

TEST(phases_stay_within_a_turn)
{
    const double turn = 2 * acos(-1);
    static const char *const json[] = {"{\"init\": \"zero\"}", "{\"init\": \"uniform\"}"};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        scheme_open(&h, "polar", json[i], 4, 16, 8, false);
        const struct weight *w = h.weights.item[0];
        double least = 0;
        ck_assert_int_eq(tensor_count(&w->value), 64);
        for (int64_t e = 0; e < 64; e++)
            least = fmin(least, tensor_get(&w->value, e));
        ck_assert(w->bounded);
        ck_assert_double_eq(w->lo, -turn);
        ck_assert_double_eq(w->hi, 0);
        ck_assert_double_ge(least, -turn);
        if (i == 0)
            ck_assert_double_eq(least, 0);
        else
            ck_assert_double_le(least, -0.8 * turn);
        harness_close(&h);
    }
}

TEST(narrowed_dimensions_are_an_error)
{
    struct harness h;
    scheme_open(&h, "polar", NULL, 1, 8, 8, true);
    harness_call(&h, 1, 1, 1, NULL);
    peat_qkv io = {.size = sizeof(io)};
    io.q = io.k = harness_constant(&h, 4, (int64_t[]){1, 1, 1, 4}, q4);
    ck_assert_int_ne(h.scheme->qkv(&h.call.base, &io), PEAT_OK);
    scheme_says(&h, "where.dims cannot narrow them");
    harness_close(&h);
}

TEST(gradients_are_exact)
{
    scheme_gradients("polar", "{\"init\": \"uniform\"}", PEAT_DECODER, PEAT_PER_LAYER);
    scheme_gradients("polar", NULL, PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("polar")
