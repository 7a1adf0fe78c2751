/* SPDX-License-Identifier: MIT */
/*
 * test_strata.c: differences over strata, one-sided tests, equivalence and interaction, against
 * what tests/golden/contrasts.py had from scipy and statsmodels.
 */
#include "maths/strata.h"

#include "equivalence.h"
#include "support/golden_file.h"
#include "support/support.h"

enum { SEEDS = 64, STRATA = 8 };

/* A case of contrasts.json. */
static struct {
    const char *name;
    int n_seed, k, n;
    double d[SEEDS * STRATA];
    double mean[SEEDS]; /* of the n complete seeds */
    const struct value *expected;
} c;
static struct arena arena;
static const struct value *golden;

static void open_golden(void)
{
    arena_init(&arena, "golden", 1 << 20);
    golden = golden_read("contrasts.json", &arena);
}

static void close_golden(void)
{
    arena_release(&arena);
}

/* False behind the last case. */
static bool read_case(int i)
{
    const struct value *v = json_get_item(golden, "cases", i);
    if (!v)
        return false;
    c.name = json_get_text(v, "name");
    c.expected = value_get(v, "expected");
    const struct value *d = value_get(v, "d");
    c.n_seed = d->n;
    c.k = d->item[0]->n;
    ck_assert(c.n_seed <= SEEDS && c.k <= STRATA);
    for (int s = 0; s < c.n_seed; s++)
        for (int j = 0; j < c.k; j++)
            c.d[s * c.k + j] = golden_number(d->item[s]->item[j]);
    double mean[SEEDS];
    int n = strata_means(c.d, c.n_seed, c.k, NULL, mean);
    c.n = 0;
    for (int s = 0; s < c.n_seed; s++)
        if (!isnan(mean[s]))
            c.mean[c.n++] = mean[s];
    ck_assert_int_eq(c.n, n);
    return true;
}

static void assert_number(double x, const char *key, double relative)
{
    char what[80];
    snprintf(what, sizeof(what), "%s: %s", c.name, key);
    golden_near(x, golden_number(value_get(c.expected, key)), relative, what);
}

TEST(a_seed_gives_its_mean_over_strata_when_it_has_all_of_them)
{
    for (int i = 0; read_case(i); i++) {
        ck_assert_int_eq(c.n, json_get_int(c.expected, "n", -1));
        assert_number(stats_mean(c.mean, c.n), "mean", 1e-12);
        assert_number(stats_ci_half(c.mean, c.n), "half", 1e-10);
    }
}

TEST(a_seed_needs_only_the_strata_asked_for)
{
    const double d[] = {1.0, (double)NAN, 3.0, 4.0, 5.0, (double)INFINITY};
    const bool outer[] = {true, false, true}, first[] = {true, true, false}, none[3] = {false};
    double mean[2];
    ck_assert_int_eq(strata_means(d, 2, 3, outer, mean), 1);
    ck_assert_double_eq(mean[0], 2.0);
    ck_assert_double_nan(mean[1]);
    ck_assert_int_eq(strata_means(d, 2, 3, first, mean), 1);
    ck_assert_double_nan(mean[0]);
    ck_assert_double_eq(mean[1], 4.5);
    ck_assert_int_eq(strata_means(d, 2, 3, none, mean), 0);
}

TEST(one_sided_p_is_scipys)
{
    for (int i = 0; read_case(i); i++)
        for (int t = 0; t < PAIRED_TESTS; t++) {
            enum paired_test test = (enum paired_test)t;
            const struct value *p =
                value_get(value_get(c.expected, "tests"), paired_test_words[test]);
            double above = golden_number(p->item[0]), below = golden_number(p->item[1]);
            if (isnan(above) && c.n > 16)
                continue; /* too many sign patterns to enumerate there */
            golden_near(paired_p_above(test, c.mean, c.n, 0.0), above, 1e-9, c.name);
            golden_near(paired_p_below(test, c.mean, c.n, 0.0), below, 1e-9, c.name);
        }
}

TEST(the_smaller_tail_twice_is_the_two_sided_p)
{
    for (int i = 0; read_case(i); i++)
        for (int t = 0; t < PAIRED_TESTS; t++) {
            enum paired_test test = (enum paired_test)t;
            double above = paired_p_above(test, c.mean, c.n, 0.0);
            double below = paired_p_below(test, c.mean, c.n, 0.0);
            /* Drawn p have the error of 100,000 draws. */
            double slack = test == TEST_SIGN_FLIP && c.n > 20 ? 0.01 : 1e-12;
            double both = paired_p(test, c.mean, c.n);
            double twice = isnan(above) ? above : fmin(1.0, 2.0 * fmin(above, below));
            ck_assert_msg(isnan(both) ? isnan(twice) : fabs(both - twice) <= slack,
                          "%s, %s: %g, twice %g", c.name, paired_test_words[test], both, twice);
        }
}

TEST(equivalence_is_two_one_sided_tests_as_statsmodels_has_them)
{
    for (int i = 0; read_case(i); i++)
        for (int m = 0; m < json_get_count(golden, "margins"); m++) {
            double margin = json_get_item(golden, "margins", m)->real;
            const struct value *p = json_get_item(c.expected, "equivalence", m);
            golden_near(equivalence_p(c.mean, c.n, margin), golden_number(p), 1e-9, c.name);
        }
}

TEST(equivalence_holds_when_the_90_percent_interval_is_within_the_margin)
{
    for (int i = 0; read_case(i); i++) {
        double mean = stats_mean(c.mean, c.n), sd = stats_sd(c.mean, c.n);
        double half = student_t_quantile(0.95, c.n - 1) * sd / sqrt(c.n);
        double p = equivalence_p(c.mean, c.n, fabs(mean) + half);
        if (isfinite(p))
            ck_assert_double_eq_tol(p, 0.05, 1e-9);
    }
}

TEST(interaction_is_that_of_statsmodels_with_greenhouse_and_geissers_epsilon)
{
    for (int i = 0; read_case(i); i++) {
        struct interaction x;
        interaction_test(c.d, c.n_seed, c.k, &x);
        ck_assert_int_eq(x.n, c.n);
        ck_assert_int_eq(x.k, c.k);
        assert_number(x.f, "f", 1e-8);
        assert_number(x.epsilon, "epsilon", 1e-9);
        assert_number(x.p, "p", 1e-8);
    }
}

TEST(interaction_of_two_strata_is_the_paired_t_of_their_difference)
{
    for (int i = 0; read_case(i); i++) {
        struct interaction x;
        double difference[SEEDS];
        if (c.k != 2 || c.n < c.n_seed)
            continue;
        for (int s = 0; s < c.n_seed; s++)
            difference[s] = c.d[2 * s] - c.d[2 * s + 1];
        interaction_test(c.d, c.n_seed, c.k, &x);
        golden_near(x.p, paired_p(TEST_T, difference, c.n), 1e-9, c.name);
    }
}

TEST(the_smallest_p_is_reached_and_says_how_many_seeds_are_needed)
{
    double d[10];
    for (int n = 1; n <= 10; n++) {
        for (int i = 0; i < n; i++)
            d[i] = 0.1 + i;
        for (int t = 0; t < TEST_T; t++)
            ck_assert_double_eq(paired_p_above((enum paired_test)t, d, n, 0.0),
                                paired_p_smallest((enum paired_test)t, 1, n));
    }
    ck_assert_int_eq(paired_pairs_needed(TEST_SIGN_FLIP, 2, 1, 0.05), 6);
    ck_assert_int_eq(paired_pairs_needed(TEST_SIGN_FLIP, 2, 8, 0.05), 9);
    ck_assert_int_eq(paired_pairs_needed(TEST_WILCOXON, 1, 1, 0.05), 5);
    ck_assert_int_eq(paired_pairs_needed(TEST_T, 1, 8, 0.05), 2);
}

int main(void)
{
    return run_tests((struct tests){"strata", open_golden, close_golden, .needs = "PEAT_SOURCE"});
}
