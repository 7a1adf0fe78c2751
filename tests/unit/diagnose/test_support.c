/* SPDX-License-Identifier: MIT */
/* test_support.c: profiles of variance that are known, and tests/golden/diagnostics.py's. */
#include "diagnose/support.h"

#include "support/fixed_table.h"
#include "support/support.h"

static struct support find(const double *token, const double *position, int64_t d)
{
    struct support s;
    assert_ok(support_find(&s, token, position, d, &arena, &err));
    return s;
}

/* The figures are disjoint, overlap, by_chance, shared, correlation; NAN: any. */
static const struct {
    int d;
    double token[6], position[6], figure[5], tolerance;
} profiles[] = {
    /* halves of a concatenation are disjoint, exactly */
    {4, {0.3, 0.1}, {0.0, 0.0, 7.0}, {1.0, 0.0, NAN, 0.0, NAN}, 0.0},
    /* one profile overlaps fully at any scale */
    {3, {1.0, 2.0, 5.0}, {0.001, 0.002, 0.005}, {0.0, 1.0, NAN, 1.0, 1.0}, 1e-14},
    /* u = (1, 0), v = (1/4, 3/4): min sums to 1/4; shuffled, to (1/4 + 3/4) / 2 */
    {2, {2.0, 0.0}, {1.0, 3.0}, {NAN, 0.25, 0.5, 0.5, -1.0}, 1e-15},
    /* ties share a rank */
    {6, {1, 2, 2, 3, 0, 2}, {5, 5, 1, 4, 0, 1}, {NAN, NAN, NAN, NAN, 0.2813874297663251}, 1e-14},
};

START_TEST(support_of_known_profiles_is_known)
{
    for (size_t i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
        struct support s = find(profiles[i].token, profiles[i].position, profiles[i].d);
        const double found[] = {s.disjoint, s.overlap, s.by_chance, s.shared, s.correlation};
        for (int k = 0; k < 5; k++)
            if (!isnan(profiles[i].figure[k]))
                ck_assert_msg(fabs(found[k] - profiles[i].figure[k]) <= profiles[i].tolerance,
                              "profile %d, figure %d: %.17g", (int)i, k, found[k]);
        if (i == 0) {
            ck_assert_int_eq(s.token_dimensions, 2);
            ck_assert_int_eq(s.position_dimensions, 1);
        }
    }
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

/* More columns than are read at a time, about means that differ. A constant column has none at all:
 * a concatenation's index is 1 and no less. */
START_TEST(variances_are_of_each_column_and_none_of_a_constant_one)
{
    enum { N = 10, D = 37, CONSTANT = 49 };
    float *x, *y;
    double variance[D];
    struct matrix m = empty_table(N, D, &x), constant = empty_table(CONSTANT, D, &y);
    for (int i = 0; i < N * D; i++)
        x[i] = 100.0f * (float)(i % D) + (i / D % 2 ? 1.0f : -1.0f) * (float)(i % D);
    column_variances(&m, variance);
    for (int j = 0; j < D; j++)
        ck_assert_double_eq_tol(variance[j], (double)j * j, 1e-9);
    for (int i = 0; i < CONSTANT * D; i++)
        y[i] = 0.1f * (float)(1 + i % D);
    column_variances(&constant, variance);
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
                    TESTS(support_of_known_profiles_is_known,
                          a_table_without_variance_has_no_support,
                          variances_are_of_each_column_and_none_of_a_constant_one,
                          figures_of_fixed_tables_are_scipys));
}
