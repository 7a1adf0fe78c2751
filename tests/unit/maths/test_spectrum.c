/* SPDX-License-Identifier: MIT */
/* test_spectrum.c: eigenvalues, singular values and bases that are known. */
#include "maths/spectrum.h"

#include "support/fixed_table.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/parallel.h"

/* 2 on the diagonal and -1 beside it: 2 - 2 cos(k pi / (n + 1)). */
START_TEST(eigenvalues_of_the_second_difference_are_known)
{
    enum { N = 40 };
    double x[N * N] = {0}, value[N];
    for (int i = 0; i < N; i++) {
        x[i * N + i] = 2.0;
        if (i > 0)
            x[i * N + i - 1] = -1.0;
        for (int j = i + 1; j < N; j++)
            x[i * N + j] = 77.0; /* never read */
    }
    assert_ok(spectrum_symmetric(lone_team(), x, N, false, value, &arena, &err));
    for (int k = 0; k < N; k++)
        ck_assert_double_eq_tol(value[k], 2.0 - 2.0 * cos((k + 1) * M_PI / (N + 1)), 1e-13);
}
END_TEST

/* H D H, H = I - 2 v v'/v'v, has the eigenvalues D and the rows of H as eigenvectors. */
START_TEST(a_reflected_diagonal_keeps_its_eigenvalues_and_shows_its_axes)
{
    enum { N = 25 };
    double v[N], h[N * N], x[N * N], value[N], vv = 0.0;
    uint64_t state = 7;
    for (int i = 0; i < N; i++) {
        v[i] = fixed_noise(&state);
        vv += v[i] * v[i];
    }
    for (int i = 0; i < N * N; i++)
        h[i] = (i / N == i % N) - 2.0 * v[i / N] * v[i % N] / vv;
    for (int i = 0; i < N * N; i++) {
        x[i] = 0.0;
        for (int k = 0; k < N; k++)
            x[i] += h[i / N * N + k] * (k - 10.0) * h[k * N + i % N];
    }
    assert_ok(spectrum_symmetric(lone_team(), x, N, true, value, &arena, &err));
    for (int k = 0; k < N; k++) {
        double along = 0.0;
        for (int j = 0; j < N; j++)
            along += x[k * N + j] * h[k * N + j];
        ck_assert_double_eq_tol(value[k], k - 10.0, 1e-12);
        ck_assert_double_eq_tol(fabs(along), 1.0, 1e-12);
    }
}
END_TEST

START_TEST(what_is_not_finite_is_refused_with_its_place)
{
    double x[] = {1.0, 0.0, (double)NAN, 1.0}, value[2];
    assert_failed(spectrum_symmetric(lone_team(), x, 2, false, value, &arena, &err),
                  "row 1, column 0");
    assert_failed(spectrum_singular(lone_team(), x, 2, 2, value, &arena, &err), "");
    assert_failed(spectrum_orthonormal(lone_team(), x, 2, 2, &arena, &err), "");
}
END_TEST

START_TEST(small_and_zero_matrices_are_fine)
{
    double one[] = {-3.0}, zero[9] = {0}, value[3];
    assert_ok(spectrum_symmetric(lone_team(), one, 1, false, value, &arena, &err));
    ck_assert_double_eq(value[0], -3.0);
    assert_ok(spectrum_symmetric(lone_team(), zero, 3, true, value, &arena, &err));
    ck_assert_double_eq(value[2], 0.0);
    assert_ok(spectrum_symmetric(lone_team(), NULL, 0, false, NULL, &arena, &err));
    assert_ok(spectrum_singular(lone_team(), NULL, 0, 3, NULL, &arena, &err));
}
END_TEST

/* A rectangle with s_k on the diagonal, and its transpose. */
START_TEST(singular_values_of_a_rectangular_diagonal_are_its_entries)
{
    for (int wide = 0; wide < 2; wide++) {
        int rows = wide ? 3 : 5, columns = wide ? 5 : 3;
        double x[15] = {0}, value[3];
        for (int k = 0; k < 3; k++)
            x[k * columns + (k + 1) % 3] = (k + 1) * (k == 1 ? -1.0 : 1.0);
        assert_ok(spectrum_singular(lone_team(), x, rows, columns, value, &arena, &err));
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(value[k], 3.0 - k, 1e-14);
    }
}
END_TEST

START_TEST(an_orthonormal_basis_spans_the_same_rows)
{
    enum { K = 4, D = 9 };
    double x[K * D], q[K * D];
    uint64_t state = 11;
    for (int i = 0; i < K * D; i++)
        q[i] = x[i] = fixed_noise(&state);
    assert_ok(spectrum_orthonormal(lone_team(), q, K, D, &arena, &err));
    for (int i = 0; i < K; i++) {
        double square = 0.0, held = 0.0;
        for (int j = 0; j < K; j++) {
            double dot = 0.0, part = 0.0;
            for (int k = 0; k < D; k++) {
                dot += q[i * D + k] * q[j * D + k];
                part += x[i * D + k] * q[j * D + k];
            }
            ck_assert_double_eq_tol(dot, i == j, 1e-14);
            held += part * part;
        }
        for (int k = 0; k < D; k++)
            square += x[i * D + k] * x[i * D + k];
        ck_assert_double_eq_tol(held, square, 1e-13);
    }
}
END_TEST

/* More rows than one block, about a mean a thousand times as large as the deviations. */
START_TEST(a_covariance_does_not_feel_a_large_mean)
{
    enum { N = 700, D = 5 };
    float *x;
    struct matrix m = empty_table(N, D, &x);
    double mean[D], c[D * D];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            x[i * D + j] = (float)(1024.0 + (i % 2 ? 1.0 : -1.0) * (j + 1));
    matrix_covariance(lone_team(), &m, mean, c, &arena);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            ck_assert_double_eq_tol(c[i * D + j], (i + 1) * (j + 1), 1e-9);
    ck_assert_double_eq_tol(mean[4], 1024.0, 1e-10);
}
END_TEST

/* What a call took from the arena goes back to it. */
START_TEST(nothing_is_left_in_the_arena)
{
    double x[] = {2.0, 0.0, 0.0, 3.0}, value[2];
    size_t before = arena.used;
    assert_ok(spectrum_symmetric(lone_team(), x, 2, true, value, &arena, &err));
    assert_ok(spectrum_singular(lone_team(), x, 2, 2, value, &arena, &err));
    assert_ok(spectrum_orthonormal(lone_team(), x, 2, 2, &arena, &err));
    ck_assert_uint_eq(arena.used, before);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"spectrum", table_open, table_close},
                    TESTS(eigenvalues_of_the_second_difference_are_known,
                          a_reflected_diagonal_keeps_its_eigenvalues_and_shows_its_axes,
                          what_is_not_finite_is_refused_with_its_place,
                          small_and_zero_matrices_are_fine,
                          singular_values_of_a_rectangular_diagonal_are_its_entries,
                          an_orthonormal_basis_spans_the_same_rows,
                          a_covariance_does_not_feel_a_large_mean, nothing_is_left_in_the_arena));
}
