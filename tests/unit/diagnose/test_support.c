/* SPDX-License-Identifier: MIT */
/* test_support.c: profiles of variance that are known, and tests/golden/diagnostics.py's. */
#include "diagnose/support.h"

#include <math.h>

#include "support/fixed_table.h"
#include "support/support.h"

static struct support find(const double *token, const double *position, int64_t d)
{
    struct support s;
    assert_ok(support_find(&s, token, position, d, &arena, &err));
    return s;
}

START_TEST(halves_of_a_concatenation_are_disjoint)
{
    const double token[] = {0.3, 0.1, 0.0, 0.0}, position[] = {0.0, 0.0, 7.0, 0.0};
    struct support s = find(token, position, 4);
    ck_assert_double_eq(s.disjoint, 1.0);
    ck_assert_double_eq(s.overlap, 0.0);
    ck_assert_double_eq(s.shared, 0.0);
    ck_assert_int_eq(s.token_dimensions, 2);
    ck_assert_int_eq(s.position_dimensions, 1);
}
END_TEST

START_TEST(one_profile_overlaps_fully_at_any_scale)
{
    const double token[] = {1.0, 2.0, 5.0}, position[] = {0.001, 0.002, 0.005};
    struct support s = find(token, position, 3);
    ck_assert_double_eq_tol(s.overlap, 1.0, 1e-14);
    ck_assert_double_eq_tol(s.disjoint, 0.0, 1e-14);
    ck_assert_double_eq_tol(s.shared, 1.0, 1e-14);
    ck_assert_double_eq_tol(s.correlation, 1.0, 1e-14);
}
END_TEST

/* u = (1, 0), v = (1/4, 3/4): min sums to 1/4; shuffled, to (1/4 + 3/4) / 2. */
START_TEST(chance_is_the_mean_over_shuffled_dimensions)
{
    const double token[] = {2.0, 0.0}, position[] = {1.0, 3.0};
    struct support s = find(token, position, 2);
    ck_assert_double_eq_tol(s.overlap, 0.25, 1e-15);
    ck_assert_double_eq_tol(s.by_chance, 0.5, 1e-15);
    ck_assert_double_eq_tol(s.shared, 0.5, 1e-15);
    ck_assert_double_eq_tol(s.correlation, -1.0, 1e-15);
}
END_TEST

START_TEST(ties_share_a_rank)
{
    const double x[] = {1, 2, 2, 3, 0, 2}, y[] = {5, 5, 1, 4, 0, 1};
    ck_assert_double_eq_tol(find(x, y, 6).correlation, 0.2813874297663251, 1e-14);
}
END_TEST

START_TEST(a_table_without_variance_has_no_support)
{
    const double zero[] = {0.0, 0.0}, some[] = {1.0, 2.0};
    struct support s = find(zero, some, 2);
    ck_assert(isnan(s.overlap) && isnan(s.disjoint) && isnan(s.by_chance) && isnan(s.shared));
    ck_assert(isnan(s.correlation));
    ck_assert_int_eq(s.token_dimensions, 0);
    ck_assert_int_eq(s.position_dimensions, 2);
    const double bad[] = {1.0, (double)NAN};
    assert_failed(support_find(&s, some, bad, 2, &arena, &err), "");
}
END_TEST

/* More columns than are read at a time, about means that differ. */
START_TEST(variances_are_of_each_column)
{
    enum { N = 10, D = 37 };
    float *x;
    struct matrix m = empty_table(N, D, &x);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            x[i * D + j] = 100.0f * (float)j + (i % 2 ? 1.0f : -1.0f) * (float)j;
    double variance[D];
    column_variances(&m, variance);
    for (int j = 0; j < D; j++)
        ck_assert_double_eq_tol(variance[j], (double)j * j, 1e-9);
}
END_TEST

/* Exactly: a concatenation's index is 1 and no less. */
START_TEST(a_constant_column_has_no_variance)
{
    enum { N = 49, D = 37 };
    float *x;
    struct matrix m = empty_table(N, D, &x);
    for (int i = 0; i < N * D; i++)
        x[i] = 0.1f * (float)(1 + i % D);
    double variance[D];
    column_variances(&m, variance);
    for (int j = 0; j < D; j++)
        ck_assert_double_eq(variance[j], 0.0);
}
END_TEST

START_TEST(figures_of_fixed_tables_are_scipys)
{
    struct matrix token = fixed_table(1, 40, 12, false);
    struct matrix position = fixed_table(2, 20, 12, true);
    double t[12], p[12];
    column_variances(&token, t);
    column_variances(&position, p);
    ck_assert_double_eq_tol(t[0], 0.32655772464806965, 1e-14);
    ck_assert_double_eq_tol(t[11], 0.0020806184912779066, 1e-14);
    struct support s = find(t, p, 12);
    ck_assert_double_eq_tol(s.overlap, 0.1327619840936157, 1e-13);
    ck_assert_double_eq_tol(s.by_chance, 0.3070370450014501, 1e-13);
    ck_assert_double_eq_tol(s.shared, 0.21286341108430465, 1e-13);
    ck_assert_double_eq_tol(s.correlation, -0.9930069930069931, 1e-13);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"support", table_open, table_close},
                    TESTS(halves_of_a_concatenation_are_disjoint,
                          one_profile_overlaps_fully_at_any_scale,
                          chance_is_the_mean_over_shuffled_dimensions, ties_share_a_rank,
                          a_table_without_variance_has_no_support, variances_are_of_each_column,
                          a_constant_column_has_no_variance, figures_of_fixed_tables_are_scipys));
}
