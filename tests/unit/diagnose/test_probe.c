/* SPDX-License-Identifier: MIT */
/* test_probe.c: readouts that are known, and tests/golden/diagnostics.py's. */
#include "diagnose/probe.h"

#include "support/fixed_table.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/parallel.h"

/* Rows with a group, a target, a class, and whether they are tests. */
struct rows {
    struct matrix m;
    float *x;
    int64_t n;
    int64_t *group, *label;
    double *y;
    bool *test;
};

static struct rows rows_new(int64_t n, int64_t d)
{
    struct rows r = {.n = n};
    r.m = empty_table(n, d, &r.x);
    r.group = ARENA_ARRAY(&arena, n, int64_t);
    r.label = ARENA_ARRAY(&arena, n, int64_t);
    r.y = ARENA_ARRAY(&arena, n, double);
    r.test = ARENA_ARRAY(&arena, n, bool);
    return r;
}

static struct probe_regression read_number(const struct rows *r)
{
    struct probe_regression p;
    assert_ok(probe_regression(lone_team(), &p, &r->m, r->y, r->group, r->test, 11, &arena, &err));
    return p;
}

static struct probe_classes read_class(const struct rows *r)
{
    struct probe_classes p;
    assert_ok(probe_classes(lone_team(), &p, &r->m, r->label, r->test, &arena, &err));
    return p;
}

/* ---- splits ---- */

START_TEST(groups_are_held_out_whole)
{
    enum { N = 90 };
    int64_t group[N];
    bool held_out[N], again[N];
    for (int i = 0; i < N; i++)
        group[i] = 100 - 7 * (i % 9);
    ck_assert_int_eq(probe_hold_out(group, N, 0.3, 5, held_out, &arena), 3);
    int rows = 0;
    for (int i = 0; i < N; i++) {
        rows += held_out[i];
        ck_assert_int_eq(held_out[i], held_out[i % 9]);
    }
    ck_assert_int_eq(rows, 30);
    ck_assert_int_eq(probe_hold_out(group, N, 0.3, 5, again, &arena), 3);
    ck_assert_int_eq(memcmp(held_out, again, sizeof(again)), 0);
    int moved = 0;
    for (uint64_t stream = 6; stream < 16; stream++) {
        probe_hold_out(group, N, 0.3, stream, again, &arena);
        moved += memcmp(held_out, again, sizeof(again)) != 0;
    }
    ck_assert_int_gt(moved, 5);
}
END_TEST

START_TEST(some_groups_stay_and_some_go)
{
    const int64_t two[] = {4, 4, 9}, one[] = {4, 4, 4};
    bool held_out[3] = {true, true, true};
    ck_assert_int_eq(probe_hold_out(two, 3, 0.0, 5, held_out, &arena), 1);
    ck_assert_int_eq(probe_hold_out(two, 3, 1.0, 5, held_out, &arena), 1);
    ck_assert_int_eq(probe_hold_out(one, 3, 0.5, 5, held_out, &arena), 0);
    ck_assert(!held_out[0] && !held_out[1] && !held_out[2]);
}
END_TEST

/* ---- numbers ---- */

/* Each position is a point on a line, with noise beside it. */
static struct rows on_a_line(int64_t d, double noise)
{
    enum { T = 40, EACH = 15 };
    struct rows r = rows_new((int64_t)T * EACH, d);
    uint64_t state = 17;
    for (int64_t i = 0; i < r.n; i++) {
        r.group[i] = i % T;
        r.y[i] = (double)r.group[i];
        for (int64_t j = 0; j < d; j++)
            r.x[i * d + j] = (float)((j == 0 ? r.y[i] : 0.0) + noise * fixed_noise(&state));
    }
    probe_hold_out(r.group, r.n, 0.25, 3, r.test, &arena);
    return r;
}

START_TEST(a_position_on_a_line_is_read_at_positions_never_seen)
{
    struct rows r = on_a_line(8, 0.0);
    struct probe_regression p = read_number(&r);
    ck_assert_int_eq(p.test, 150);
    ck_assert_int_eq(p.train, 450);
    ck_assert_double_gt(p.r2, 1.0 - 1e-10);
    ck_assert_double_lt(p.error, 1e-4);
    ck_assert_double_eq(p.ridge, 1e-6);
}
END_TEST

/* Uniform noise of variance s^2 / 3 in the one column that matters. */
START_TEST(noise_takes_its_share_of_r2)
{
    struct rows r = on_a_line(1, 6.0);
    struct probe_regression p = read_number(&r);
    double signal = (40.0 * 40.0 - 1.0) / 12.0;
    ck_assert_double_eq_tol(p.train_r2, signal / (signal + 12.0), 0.03);
    ck_assert_double_eq_tol(p.r2, signal / (signal + 12.0), 0.05);
}
END_TEST

/* A vector of its own for each position would fit the seen ones and says nothing of others: the
 * ridge that held-out positions choose keeps such a fit from doing harm. */
START_TEST(positions_learned_by_heart_do_not_carry_over)
{
    enum { T = 40, D = 64 };
    struct rows r = rows_new(10 * T, D);
    uint64_t state = 23;
    float own[T * D];
    for (int i = 0; i < T * D; i++)
        own[i] = (float)fixed_noise(&state);
    for (int64_t i = 0; i < r.n; i++) {
        r.group[i] = i % T;
        r.y[i] = (double)r.group[i];
        memcpy(r.x + i * D, own + r.group[i] * D, D * sizeof(float));
    }
    probe_hold_out(r.group, r.n, 0.25, 3, r.test, &arena);
    struct probe_regression p = read_number(&r);
    ck_assert_double_lt(p.r2, 0.3);
    ck_assert_double_gt(p.r2, -0.3);
    ck_assert_double_ge(p.ridge, 1.0);
}
END_TEST

START_TEST(nothing_to_read_is_not_defined)
{
    struct rows r = on_a_line(2, 1.0);
    memset(r.test, 0, (size_t)r.n * sizeof(*r.test));
    struct probe_regression p = read_number(&r);
    ck_assert(isnan(p.r2) && isnan(p.error));
    ck_assert_int_eq(p.test, 0);
    ck_assert_double_gt(p.train_r2, 0.9);
    memset(r.x, 0, (size_t)(r.n * 2) * sizeof(*r.x));
    r.test[0] = r.test[1] = true;
    p = read_number(&r);
    ck_assert_double_lt(p.r2, 0.0);
    memset(r.test, 1, (size_t)r.n * sizeof(*r.test));
    assert_failed(probe_regression(lone_team(), &p, &r.m, r.y, r.group, r.test, 1, &arena, &err),
                  "learn from");
    r.x[3] = (float)NAN;
    assert_failed(probe_regression(lone_team(), &p, &r.m, r.y, r.group, r.test, 1, &arena, &err),
                  "row 1");
}
END_TEST

/* ---- classes ---- */

/* Means on a line: with least squares on one-hot targets the inner ones would never be answered. */
START_TEST(classes_along_a_line_are_all_answered)
{
    enum { CLASSES = 9 };
    struct rows r = rows_new(60 * CLASSES, 3);
    uint64_t state = 5;
    for (int64_t i = 0; i < r.n; i++) {
        r.label[i] = 1000 - 3 * (i % CLASSES);
        r.test[i] = i % 5 == 0;
        for (int j = 0; j < 3; j++)
            r.x[i * 3 + j] =
                (float)(0.3 * fixed_noise(&state) + (j == 1 ? (double)(i % CLASSES) : 0.0));
    }
    struct probe_classes p = read_class(&r);
    ck_assert_int_eq(p.classes, CLASSES);
    ck_assert_int_eq(p.unseen, 0);
    ck_assert_double_eq(p.accuracy, 1.0);
    ck_assert_double_lt(p.chance, 0.2);
}
END_TEST

/* A sum of two codes on axes of their own, the second a hundred times as large: either is read. */
START_TEST(a_small_class_beside_a_large_one_is_read)
{
    enum { A = 6, B = 10, D = A + B };
    struct rows r = rows_new(A * B * 5, D);
    for (int64_t i = 0; i < r.n; i++) {
        r.label[i] = i % A;
        r.x[i * D + i % A] = 0.01f;
        r.x[i * D + A + i / A % B] = 1.0f;
        r.test[i] = i / (A * B) == 4;
    }
    ck_assert_double_eq(read_class(&r).accuracy, 1.0);
    for (int64_t i = 0; i < r.n; i++)
        r.label[i] = i / A % B;
    ck_assert_double_eq(read_class(&r).accuracy, 1.0);
}
END_TEST

START_TEST(noise_is_read_no_better_than_by_chance)
{
    struct rows r = rows_new(2000, 4);
    uint64_t state = 5;
    for (int64_t i = 0; i < r.n; i++) {
        r.label[i] = i % 10 < 4 ? 0 : i % 10 - 3;
        r.test[i] = i / 10 % 2;
        for (int j = 0; j < 4; j++)
            r.x[i * 4 + j] = (float)fixed_noise(&state);
    }
    struct probe_classes p = read_class(&r);
    ck_assert_double_eq_tol(p.chance, 0.4, 1e-15);
    ck_assert_double_eq_tol(p.accuracy, 0.4, 0.04);
}
END_TEST

START_TEST(a_class_that_was_never_seen_is_wrong)
{
    struct rows r = rows_new(40, 2);
    for (int64_t i = 0; i < r.n; i++) {
        r.label[i] = i % 4;
        r.x[2 * i] = (float)(i % 4);
        r.x[2 * i + 1] = (float)(i % 4 == 3);
        r.test[i] = i >= 20;
    }
    for (int64_t i = 20; i < 25; i++)
        r.label[i] = -8;
    struct probe_classes p = read_class(&r);
    ck_assert_int_eq(p.unseen, 5);
    ck_assert_int_eq(p.classes, 4);
    ck_assert_double_eq_tol(p.accuracy, 0.75, 1e-15);
}
END_TEST

/* ---- golden ---- */

static struct rows golden_rows(void)
{
    enum { GROUPS = 20, EACH = 12, D = 9 };
    struct rows r = rows_new(GROUPS * EACH, D);
    uint64_t state = 5;
    for (int64_t i = 0; i < r.n; i++) {
        float c = (float)(i % 7);
        r.group[i] = i / EACH;
        r.label[i] = i % 7;
        r.y[i] = 3.0 * (double)r.group[i] + 1.0;
        r.test[i] = r.group[i] % 4 == 3;
        for (int j = 0; j < D; j++)
            r.x[i * D + j] =
                (float)(fixed_noise(&state) + 0.1 * (j + 1) * (double)r.group[i] / GROUPS);
        r.x[i * D] = r.x[i * D] + 0.5f * c;
        r.x[i * D + 1] = r.x[i * D + 1] - 0.25f * (c * c);
    }
    return r;
}

/* Ridge, R^2 and mean error of the tests, R^2 of the training rows. */
static const double ridges[PROBE_RIDGES][4] = {
    {1e-6, 0.28093410206199865, 11.740768269680196, 0.4331999712566472},
    {1e-5, 0.2809363598109129, 11.740765860634118, 0.433199971203713},
    {1e-4, 0.2809589234424703, 11.7407417905716, 0.43319996591347554},
    {1e-3, 0.2811831813994822, 11.740503118431457, 0.43319944004326716},
    {1e-2, 0.28329491674892837, 11.738308457831051, 0.433149803655308},
    {1e-1, 0.29574921036762214, 11.807068853061786, 0.42992433959148346},
    {1e0, 0.25327537399608535, 12.7467858940419, 0.35241213087100565},
    {1e1, -0.013694593025474155, 14.912966166935336, 0.09865588609777276},
    {1e2, -0.11162599724798405, 15.522515859661183, 0.011760747690291895},
};

START_TEST(a_regression_is_scikit_learns_ridge)
{
    struct rows r = golden_rows();
    struct probe_regression p = read_number(&r);
    int k = (int)lround(log10(p.ridge)) + 6;
    ck_assert_int_ge(k, 0);
    ck_assert_int_lt(k, PROBE_RIDGES);
    ck_assert_double_eq_tol(p.ridge, ridges[k][0], 1e-12 * p.ridge);
    ck_assert_double_eq_tol(p.r2, ridges[k][1], 1e-6);
    ck_assert_double_eq_tol(p.error, ridges[k][2], 1e-5);
    ck_assert_double_eq_tol(p.train_r2, ridges[k][3], 1e-6);
    /* held-out groups did not choose a ridge that hurts */
    ck_assert_double_gt(p.r2, 0.25);
}
END_TEST

/* Neither the choice of the ridge nor the fit looks at what is to be scored. */
START_TEST(targets_of_the_tests_do_not_change_the_fit)
{
    struct rows r = golden_rows();
    for (uint64_t stream = 0; stream < 10; stream++) {
        struct probe_regression p, q;
        struct rows other = golden_rows();
        for (int64_t i = 0; i < r.n; i++)
            other.y[i] = r.test[i] ? -1000.0 * r.y[i] : r.y[i];
        assert_ok(
            probe_regression(lone_team(), &p, &r.m, r.y, r.group, r.test, stream, &arena, &err));
        assert_ok(probe_regression(lone_team(), &q, &r.m, other.y, r.group, r.test, stream, &arena,
                                   &err));
        ck_assert_double_eq(p.ridge, q.ridge);
        ck_assert_double_eq(p.train_r2, q.train_r2);
        ck_assert_double_gt(p.r2, q.r2);
    }
}
END_TEST

START_TEST(classes_and_shrinkage_are_scikit_learns)
{
    struct rows r = golden_rows();
    struct probe_classes p = read_class(&r);
    ck_assert_int_eq(p.test, 60);
    ck_assert_double_eq_tol(p.shrinkage, 0.18907486380990243, 1e-6);
    ck_assert_double_eq_tol(p.accuracy, 39.0 / 60.0, 1e-15);
}
END_TEST

START_TEST(the_same_rows_give_the_same_bits)
{
    struct rows r = golden_rows();
    struct probe_regression p = read_number(&r), q = read_number(&r);
    struct probe_classes c = read_class(&r), d = read_class(&r);
    ck_assert_int_eq(memcmp(&p, &q, sizeof(p)), 0);
    ck_assert_int_eq(memcmp(&c, &d, sizeof(c)), 0);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"probe", table_open, table_close, 60},
        TESTS(groups_are_held_out_whole, some_groups_stay_and_some_go,
              a_position_on_a_line_is_read_at_positions_never_seen, noise_takes_its_share_of_r2,
              positions_learned_by_heart_do_not_carry_over, nothing_to_read_is_not_defined,
              classes_along_a_line_are_all_answered, a_small_class_beside_a_large_one_is_read,
              noise_is_read_no_better_than_by_chance, a_class_that_was_never_seen_is_wrong,
              a_regression_is_scikit_learns_ridge, targets_of_the_tests_do_not_change_the_fit,
              classes_and_shrinkage_are_scikit_learns, the_same_rows_give_the_same_bits));
}
