/* SPDX-License-Identifier: MIT */
/* test_subspace.c: ranks and angles that are known, and tests/golden/diagnostics.py's. */
#include "maths/subspace.h"

#include "support/fixed_table.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/parallel.h"

static struct subspace find(const struct matrix *m, double share)
{
    struct subspace s;
    assert_ok(subspace_find(lone_team(), &s, m, share, &arena, &err));
    return s;
}

/* Rows +-(1 + i) along axes[i] of d. */
static struct matrix cross_of(const int *axes, int n, int64_t d)
{
    float *x;
    struct matrix m = empty_table(2 * n, d, &x);
    for (int i = 0; i < n; i++) {
        x[2 * i * d + axes[i]] = 1.0f + (float)i;
        x[(2 * i + 1) * d + axes[i]] = -1.0f - (float)i;
    }
    return m;
}

/* ---- ranks ---- */

START_TEST(equal_shares_fill_all_dimensions)
{
    const double same[] = {2.0, 2.0, 2.0, 2.0}, one[] = {-1e-18, 0.0, 0.0, 5.0}, none[3] = {0};
    struct effective_rank r = effective_rank(same, 4, 0.75);
    ck_assert_int_eq(r.components, 3);
    ck_assert_double_eq_tol(r.entropy, 4.0, 1e-14);
    r = effective_rank(one, 4, 0.99);
    ck_assert_int_eq(r.components, 1);
    ck_assert_double_eq_tol(r.entropy, 1.0, 1e-14);
    r = effective_rank(none, 3, 0.99);
    ck_assert_int_eq(r.components, 0);
    ck_assert_double_eq(r.entropy, 0.0);
}
END_TEST

/* p, 1 - p: exp(-p ln p - (1 - p) ln(1 - p)). */
START_TEST(entropy_weighs_unequal_shares)
{
    const double value[] = {1.0, 3.0};
    struct effective_rank r = effective_rank(value, 2, 0.75);
    ck_assert_int_eq(r.components, 1);
    ck_assert_double_eq_tol(r.entropy, pow(4.0, 0.25) * pow(4.0 / 3.0, 0.75), 1e-14);
}
END_TEST

START_TEST(a_constant_table_has_no_subspace)
{
    float *x;
    struct matrix m = empty_table(77, 6, &x);
    for (int i = 0; i < 77 * 6; i++)
        x[i] = 0.1f * (float)(1 + i % 6);
    struct subspace s = find(&m, 0.99);
    ck_assert_int_eq(s.k, 0);
    ck_assert_double_eq(s.variance, 0.0);
    ck_assert_double_eq(s.constant, 1.0);
    struct matrix zero = empty_table(3, 6, &x);
    struct subspace none = find(&zero, 0.99);
    ck_assert(isnan(none.constant));
    struct angle_summary a;
    assert_ok(principal_angles(lone_team(), &s, &none, NULL, &a, &arena, &err));
    ck_assert_int_eq(a.n, 0);
    ck_assert(isnan(a.mean) && isnan(a.overlap));
}
END_TEST

START_TEST(the_constant_part_is_no_direction)
{
    const int axes[] = {1, 3};
    struct matrix m = cross_of(axes, 2, 5);
    float *x = (float *)(uintptr_t)m.x;
    for (int i = 0; i < 4; i++)
        x[i * 5 + 4] = 100.0f;
    struct subspace s = find(&m, 1.0);
    ck_assert_int_eq(s.k, 2);
    ck_assert_double_eq_tol(s.variance, 0.5 * (1.0 + 4.0), 1e-12);
    ck_assert_double_eq_tol(s.constant, 1e4 / (1e4 + 2.5), 1e-12);
    ck_assert_double_eq_tol(fabs(s.basis[3]), 1.0, 1e-12);
    ck_assert_double_eq_tol(fabs(s.basis[5 + 1]), 1.0, 1e-12);
}
END_TEST

/* The sinusoid of width 512 over 128 positions: 40 components for 99 %, 28 for 90 %, and 57 % of
 * its energy in one constant vector. */
START_TEST(the_sinusoid_of_width_512_has_rank_40)
{
    enum { T = 128, D = 512 };
    float *x;
    struct matrix m = empty_table(T, D, &x);
    for (int p = 0; p < T; p++)
        for (int i = 0; i < D / 2; i++) {
            double angle = p * pow(1e4, -(double)i / (D / 2 - 1));
            x[p * D + i] = (float)sin(angle);
            x[p * D + D / 2 + i] = (float)cos(angle);
        }
    struct subspace s = find(&m, 0.99);
    ck_assert_int_eq(s.k, 40);
    ck_assert_int_eq(effective_rank(s.value, D, 0.9).components, 28);
    ck_assert_double_eq_tol(s.constant, 0.57, 0.005);
}
END_TEST

/* ---- angles ---- */

START_TEST(orthogonal_and_equal_subspaces_stand_at_90_and_0_degrees)
{
    const int low[] = {0, 1}, high[] = {2, 3, 4};
    struct matrix a = cross_of(low, 2, 5), b = cross_of(high, 3, 5);
    struct subspace x = find(&a, 1.0), y = find(&b, 1.0);
    struct angle_summary s;
    assert_ok(principal_angles(lone_team(), &x, &y, NULL, &s, &arena, &err));
    ck_assert_int_eq(s.n, 2);
    ck_assert_double_eq_tol(s.smallest, 90.0, 1e-12);
    ck_assert_double_eq_tol(s.overlap, 0.0, 1e-24);
    assert_ok(principal_angles(lone_team(), &x, &x, NULL, &s, &arena, &err));
    ck_assert_double_eq_tol(s.largest, 0.0, 1e-12);
    ck_assert_double_eq(s.overlap, 1.0);
}
END_TEST

/* A cosine of nearly 1 says nothing about such an angle; a sine does. */
START_TEST(angles_of_a_millionth_degree_keep_their_digits)
{
    const double turn[] = {1e-6, 1e-3, 30.0, 60.0, 89.999};
    for (int k = 0; k < 5; k++) {
        double one[] = {1.0, 0.0, 0.0}, angle;
        double other[] = {cos(turn[k] * M_PI / 180.0), 0.0, sin(turn[k] * M_PI / 180.0)};
        const struct subspace s = {.k = 1, .d = 3, .basis = one};
        const struct subspace t = {.k = 1, .d = 3, .basis = other};
        struct angle_summary a;
        assert_ok(principal_angles(lone_team(), &s, &t, &angle, &a, &arena, &err));
        ck_assert_double_eq_tol(angle, turn[k], 1e-9 * turn[k]);
    }
}
END_TEST

/* Planes of four dimensions that are turned by 1e-6 degrees in one pair of axes, 10 in the other.
 */
START_TEST(each_small_angle_has_its_own_sine)
{
    double low = 1e-6 * M_PI / 180.0, high = 10.0 * M_PI / 180.0, angle[2];
    double one[] = {1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    double other[] = {cos(low), 0.0, sin(low), 0.0, 0.0, cos(high), 0.0, sin(high)};
    const struct subspace x = {.k = 2, .d = 4, .basis = one}, y = {.k = 2, .d = 4, .basis = other};
    struct angle_summary s;
    assert_ok(principal_angles(lone_team(), &x, &y, angle, &s, &arena, &err));
    ck_assert_double_eq_tol(angle[0], 1e-6, 1e-14);
    ck_assert_double_eq_tol(angle[1], 10.0, 1e-12);
}
END_TEST

static const double golden_angle[] = {56.92702309837739, 72.5393455487955, 84.34071033073859,
                                      89.11028403214274};

START_TEST(ranks_and_angles_of_fixed_tables_are_scipys)
{
    struct matrix token = fixed_table(1, 40, 12, false);
    struct matrix position = fixed_table(2, 20, 12, true);
    struct subspace t = find(&token, 0.9), p = find(&position, 0.9);
    ck_assert_int_eq(t.k, 4);
    ck_assert_int_eq(p.k, 6);
    ck_assert_double_eq_tol(t.rank.entropy, 3.3563168386734272, 1e-12);
    ck_assert_double_eq_tol(p.rank.entropy, 6.10002743341245, 1e-12);
    ck_assert_double_eq_tol(t.variance, 0.5028053643393183, 1e-13);
    ck_assert_double_eq_tol(p.constant, 0.3949386745533014, 1e-13);
    ck_assert_double_eq_tol(t.value[11], 0.33236472889438545, 1e-13);
    ck_assert_double_eq_tol(p.value[0], 0.0005032945677972011, 1e-13);
    for (int swapped = 0; swapped < 2; swapped++) {
        struct angle_summary s;
        double angle[4];
        assert_ok(principal_angles(lone_team(), swapped ? &p : &t, swapped ? &t : &p, angle, &s,
                                   &arena, &err));
        ck_assert_int_eq(s.n, 4);
        for (int k = 0; k < 4; k++)
            ck_assert_double_eq_tol(angle[k], golden_angle[k], 1e-9);
        ck_assert_double_eq_tol(s.overlap, 0.09944799313752407, 1e-12);
        ck_assert_double_eq(s.smallest, angle[0]);
        ck_assert_double_eq(s.largest, angle[3]);
    }
}
END_TEST

START_TEST(a_table_that_is_not_finite_has_no_subspace)
{
    float *x;
    struct matrix m = empty_table(4, 3, &x);
    x[5] = (float)NAN;
    struct subspace s;
    assert_failed(subspace_find(lone_team(), &s, &m, 0.99, &arena, &err), "");
}
END_TEST

/* ---- chance ---- */

/* cos^2 between a random line and k of d axes is Beta(k / 2, (d - k) / 2): quantiles from scipy. */
static const struct {
    int64_t k, d;
    double q05, q50, q95;
} lines[] = {
    {1, 8, 48.21144043537898, 74.95525807182446, 88.59290176054564},
    {3, 8, 29.033341430086224, 53.581630236518244, 75.53284396857322},
    {5, 32, 55.389395597817725, 67.87676102169867, 78.54464723977763},
};

START_TEST(random_lines_stand_as_their_distribution_says)
{
    uint64_t stream = rng_stream(1, "diagnose", "angles");
    for (int i = 0; i < 3; i++) {
        struct angle_baseline b;
        assert_ok(
            angles_random(lone_team(), lines[i].k, 1, lines[i].d, 4000, stream, &b, &arena, &err));
        ck_assert_double_eq_tol(b.mean.q05, lines[i].q05, 1.5);
        ck_assert_double_eq_tol(b.mean.q50, lines[i].q50, 1.0);
        ck_assert_double_eq_tol(b.mean.q95, lines[i].q95, 1.0);
        ck_assert_double_eq_tol(b.overlap.mean, (double)lines[i].k / (double)lines[i].d, 0.01);
    }
}
END_TEST

START_TEST(random_overlap_is_the_larger_share_of_the_space)
{
    struct angle_baseline b, again, other;
    uint64_t stream = rng_stream(2, "diagnose", "angles");
    assert_ok(angles_random(lone_team(), 3, 8, 24, 1000, stream, &b, &arena, &err));
    ck_assert_double_eq_tol(b.overlap.mean, 8.0 / 24.0, 0.01);
    ck_assert_double_lt(b.smallest.q50, b.mean.q50);
    ck_assert_double_lt(b.mean.q95, b.largest.q95);
    assert_ok(angles_random(lone_team(), 8, 3, 24, 1000, stream, &again, &arena, &err));
    ck_assert_int_eq(memcmp(&b, &again, sizeof(b)), 0);
    assert_ok(angles_random(lone_team(), 8, 3, 24, 1000, stream + 1, &other, &arena, &err));
    ck_assert_int_ne(memcmp(&b, &other, sizeof(b)), 0);
}
END_TEST

/* With k_a + k_b > d they meet. */
START_TEST(subspaces_too_large_for_the_space_share_directions)
{
    struct angle_baseline b;
    assert_ok(angles_random(lone_team(), 7, 5, 10, 20, 9, &b, &arena, &err));
    ck_assert_double_lt(b.smallest.q95, 1e-5);
    /* two planes of five in six dimensions have four angles of 0 */
    assert_ok(angles_random(lone_team(), 5, 5, 6, 20, 9, &b, &arena, &err));
    ck_assert_double_gt(b.largest.q05, 1.0);
    ck_assert_double_eq_tol(b.largest.mean, 5.0 * b.mean.mean, 1e-5);
    assert_ok(angles_random(lone_team(), 10, 5, 10, 20, 9, &b, &arena, &err));
    ck_assert_double_lt(b.largest.q95, 1e-5);
    ck_assert_double_eq_tol(b.overlap.mean, 1.0, 1e-12);
}
END_TEST

START_TEST(quantiles_lie_between_order_statistics)
{
    double x[] = {3.0, 1.0, 2.0, 5.0};
    struct quantiles s = quantiles_of(x, 4);
    ck_assert_double_eq_tol(s.mean, 2.75, 1e-15);
    ck_assert_double_eq_tol(s.q05, 1.15, 1e-15);
    ck_assert_double_eq_tol(s.q50, 2.5, 1e-15);
    ck_assert_double_eq_tol(s.q95, 4.7, 1e-14);
    ck_assert(isnan(quantiles_of(x, 0).mean));
}
END_TEST

int main(void)
{
    return run_list((struct tests){"subspace", table_open, table_close, .seconds = 60},
                    TESTS(equal_shares_fill_all_dimensions, entropy_weighs_unequal_shares,
                          a_constant_table_has_no_subspace, the_constant_part_is_no_direction,
                          the_sinusoid_of_width_512_has_rank_40,
                          orthogonal_and_equal_subspaces_stand_at_90_and_0_degrees,
                          angles_of_a_millionth_degree_keep_their_digits,
                          each_small_angle_has_its_own_sine,
                          ranks_and_angles_of_fixed_tables_are_scipys,
                          a_table_that_is_not_finite_has_no_subspace,
                          random_lines_stand_as_their_distribution_says,
                          random_overlap_is_the_larger_share_of_the_space,
                          subspaces_too_large_for_the_space_share_directions,
                          quantiles_lie_between_order_statistics));
}
