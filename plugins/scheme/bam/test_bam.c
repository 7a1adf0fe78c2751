/* SPDX-License-Identifier: MIT */
/* The scheme 'bam': the priors that it has as special cases. */
#include "../content_tests.h"
#include "../slopes.h"

static const double delta[] = {0, -1, -2, 3, -4, 5};

/* Tensors of 2 heads: theta_alpha, theta_beta, and theta_mu where there is one. */
static peat_node *bias(struct harness *h, const char *json, const double theta[3][2])
{
    scheme_open(h, "bam", json, 2, 4, 8, true);
    for (int k = 0; k < h->weights.n; k++)
        for (int64_t i = 0; i < 2; i++)
            tensor_set(&h->weights.item[k]->value, i, theta[k][i]);
    return scheme_bias_rel(h, 6, delta);
}

/* A Laplace prior: within epsilon of the linear biases. */
TEST(training_starts_from_alibi)
{
    struct harness h;
    scheme_open(&h, "bam", NULL, 6, 4, 8, true);
    peat_node *n = scheme_bias_rel(&h, 6, delta);
    for (int64_t head = 0; head < 6; head++)
        for (int64_t i = 0; i < 6; i++)
            ck_assert_double_eq_tol(harness_at(n, 6 * head + i),
                                    -slopes_at(head, 6) * fabs(delta[i]), 1e-5);
    harness_close(&h);
}

TEST(a_shape_of_0_is_a_uniform_prior)
{
    struct harness h;
    scheme_open(&h, "bam", "{\"init_shape\": 0}", 2, 4, 8, true);
    peat_node *n = scheme_bias_rel(&h, 6, delta);
    for (int64_t i = 0; i < 12; i++)
        ck_assert_double_eq(harness_at(n, i), harness_at(n, i / 6 * 6));
    harness_close(&h);
}

/* Near keys are suppressed and far ones are not. */
TEST(a_shape_below_0_looks_away_from_the_query)
{
    const double back[] = {0, -1, -2, -10, -100, -1e6};
    struct harness h;
    scheme_open(&h, "bam", "{\"init_shape\": -1}", 2, 4, 8, true);
    peat_node *n = scheme_bias_rel(&h, 6, back);
    for (int64_t i = 1; i < 6; i++)
        ck_assert_double_gt(harness_at(n, i), harness_at(n, i - 1));
    ck_assert_double_lt(harness_at(n, 0), -1e3);
    ck_assert_double_gt(harness_at(n, 5), -1e-6);
    harness_close(&h);
}

TEST(the_location_is_the_centre_of_the_prior)
{
    const double theta[3][2] = {{0, 0}, {2, 2}, {asinh(-1), asinh(1.5)}}; /* mu: -2 and 3 */
    struct harness h;
    peat_node *n = bias(&h, "{\"location\": true}", theta);
    for (int64_t i = 0; i < 6; i++) {
        ck_assert_double_le(harness_at(n, i), harness_at(n, 2));
        ck_assert_double_le(harness_at(n, 6 + i), harness_at(n, 6 + 3));
    }
    harness_close(&h);
}

TEST(tensors_are_kept_where_biases_are_finite)
{
    const double most[] = {20, 3, 10};
    struct harness h;
    scheme_open(&h, "bam", "{\"location\": true}", 2, 4, 8, true);
    ck_assert_int_eq(h.weights.n, 3);
    for (int k = 0; k < 3; k++) {
        const struct weight *w = h.weights.item[k];
        ck_assert(w->bounded);
        ck_assert_double_eq(w->lo, -most[k]);
        ck_assert_double_eq(w->hi, most[k]);
    }
    harness_close(&h);
}

TEST(gradients_are_exact)
{
    scheme_gradients("bam", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("bam", NULL, PEAT_ENCODER, PEAT_PER_LAYER);
    content_gradients("bam", "{\"location\": true}", PEAT_DECODER, PATH_AUTO);
    content_gradients("bam", "{\"location\": true}", PEAT_ENCODER, PATH_AUTO);
}

PLUGIN_TESTS("bam")
