/* SPDX-License-Identifier: MIT */
/*
 * test_crossed.c: the variance of a mean over seeds and stretches against a restricted maximum
 * likelihood fit (tests/golden/crossed.py), and its interval against 10,000 simulated tables.
 */
#include "maths/crossed.h"

#include "maths/statistics.h"
#include "support/support.h"

enum { SEEDS = 12, STRETCHES = 64, TABLES = 10000 };

static double equal[STRETCHES];

static void set_up(void)
{
    for (int j = 0; j < STRETCHES; j++)
        equal[j] = 1.0;
}

static double wave(int s, int j)
{
    return 0.3 + 0.5 * sin(1 + 3 * s) + 0.4 * sin(2 + 5 * j) +
           0.3 * sin(7 * s * s + 11 * j * s + j);
}

static void fill(double *d, int S, int J)
{
    for (int s = 0; s < S; s++)
        for (int j = 0; j < J; j++)
            d[s * J + j] = wave(s, j);
}

TEST(variance_and_degrees_of_freedom_are_those_of_an_independent_fit)
{
    static const struct {
        int S, J;
        double mean, variance, df;
    } known[] = {
        {4, 6, 0.3694255207, 0.0692531449, 5.2378487283},
        {6, 12, 0.3836340114, 0.0242441800, 8.0291138759},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        double d[SEEDS * STRETCHES];
        fill(d, known[i].S, known[i].J);
        struct crossed c = crossed_mean(d, known[i].S, known[i].J, equal);
        ck_assert_double_eq_tol(c.mean, known[i].mean, 1e-6);
        ck_assert_double_eq_tol(c.variance, known[i].variance, 1e-6 * known[i].variance);
        ck_assert_double_eq_tol(c.df, known[i].df, 1e-6 * known[i].df);
    }
}

/* Ten stretches of weight 3 and one of weight 0 are those ten. */
TEST(weights_are_relative_and_a_stretch_of_weight_0_has_no_part)
{
    enum { S = 5, J = 10 };
    double d[S * J], more[S * (J + 1)], weight[J + 1];
    fill(d, S, J);
    for (int s = 0; s < S; s++)
        for (int j = 0; j <= J; j++) {
            more[s * (J + 1) + j] = j < J ? d[s * J + j] : 1e6;
            weight[j] = j < J ? 3.0 : 0.0;
        }
    struct crossed one = crossed_mean(d, S, J, equal), two = crossed_mean(more, S, J + 1, weight);
    ck_assert_double_eq_tol(two.mean, one.mean, 1e-12);
    ck_assert_double_eq_tol(two.variance, one.variance, 1e-12);
    ck_assert_double_eq_tol(two.df, one.df, 1e-9);
}

/* Text that says nothing leaves Student's interval over seeds. */
TEST(without_spread_over_text_the_interval_is_that_over_seeds)
{
    enum { S = 6, J = 8 };
    double d[S * J], of_seed[S];
    for (int i = 0; i < S * J; i++)
        d[i] = of_seed[i / J] = wave(i / J, 0);
    struct crossed c = crossed_mean(d, S, J, equal);
    ck_assert_double_eq_tol(crossed_half(&c, 0.95), stats_ci_half(of_seed, S), 1e-12);
}

TEST(one_seed_or_one_stretch_has_no_interval)
{
    double d[4] = {1.0, 2.0, 3.0, 5.0}, one[2] = {1.0, 0.0};
    struct crossed of_text = crossed_mean(d, 1, 4, equal), of_seeds = crossed_mean(d, 4, 1, equal),
                   left = crossed_mean(d, 2, 2, one), same = {0};
    ck_assert_double_eq(of_text.mean, 2.75);
    ck_assert_double_nan(crossed_half(&of_text, 0.95));
    ck_assert_double_nan(crossed_half(&of_seeds, 0.95));
    ck_assert_double_nan(crossed_half(&left, 0.95));
    same = crossed_mean((double[4]){0.5, 0.5, 0.5, 0.5}, 2, 2, equal);
    ck_assert_double_eq(crossed_half(&same, 0.95), 0.0);
}

/* The share of tables whose interval has the true mean, 0; *seeds: that of the interval over seeds
 * alone. */
static double coverage(int S, const double sd[3], uint64_t stream, double *seeds)
{
    int inside = 0, inside_seeds = 0;
    uint64_t at = 0;
    for (int t = 0; t < TABLES; t++) {
        double d[SEEDS * STRETCHES], text[STRETCHES], of_seed[SEEDS];
        for (int j = 0; j < STRETCHES; j++)
            text[j] = sd[1] * rng_normal(stream, at++);
        for (int s = 0; s < S; s++) {
            double own = sd[0] * rng_normal(stream, at++);
            for (int j = 0; j < STRETCHES; j++)
                d[s * STRETCHES + j] = own + text[j] + sd[2] * rng_normal(stream, at++);
            of_seed[s] = stats_mean(d + (size_t)s * STRETCHES, STRETCHES);
        }
        struct crossed c = crossed_mean(d, S, STRETCHES, equal);
        inside += fabs(c.mean) <= crossed_half(&c, 0.95);
        inside_seeds += fabs(c.mean) <= stats_ci_half(of_seed, S);
    }
    *seeds = (double)inside_seeds / TABLES;
    return (double)inside / TABLES;
}

/* 10,000 tables tell .95 from .9435 at three standard errors. Where neither seeds nor stretches
 * differ the interval is too wide, never too narrow. */
TEST(intervals_of_simulated_tables_have_the_mean_as_often_as_they_say)
{
    static const struct {
        int S;
        double sd[3], least, most; /* of seeds, of stretches, of the rest */
        double seeds_most;         /* of the interval over seeds alone */
    } known[] = {
        {5, {1.0, 3.0, 8.0}, 0.9435, 0.97, 0.93},  {5, {1.0, 8.0, 8.0}, 0.9435, 0.97, 0.81},
        {5, {0.0, 8.0, 8.0}, 0.9435, 0.98, 0.72},  {8, {1.0, 0.0, 8.0}, 0.9435, 0.97, 0.96},
        {10, {1.0, 3.0, 8.0}, 0.9435, 0.97, 0.90}, {10, {0.3, 8.0, 8.0}, 0.9435, 0.97, 0.55},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        double seeds, share = coverage(known[i].S, known[i].sd, 100 + i, &seeds);
        ck_assert_msg(share >= known[i].least && share <= known[i].most &&
                          seeds <= known[i].seeds_most,
                      "case %zu: %.4f of the intervals have the mean, %.4f of those over seeds", i,
                      share, seeds);
    }
}

int main(void)
{
    return run_tests((struct tests){"crossed", set_up, .seconds = 120});
}
