/* SPDX-License-Identifier: MIT */
/* test_describe.c: statistics of tables whose answers are known. */
#include "inspect/describe.h"
#include "support/products.h"
#include "support/support.h"

/* The table under description. */
static struct bench {
    struct arena arena;
    struct error err;
    struct stream_description stream;
    struct bias_description bias;
    int64_t rows, columns;
    float *x;
} b;

static void bench_open(void)
{
    arena_init(&b.arena, "describe", 1 << 16);
}

static void bench_close(void)
{
    arena_release(&b.arena);
}

static void make_table(int64_t rows, int64_t columns)
{
    b.rows = rows;
    b.columns = columns;
    b.x = ARENA_ARRAY(&b.arena, rows * columns, float);
}

static void describe(void)
{
    ck_assert_int_eq(
        describe_stream(lone_team(), &b.stream, b.x, b.rows, b.columns, &b.arena, &b.err), PEAT_OK);
}

/* A fixed sequence without structure, in [-1, 1). */
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* Frequencies from 1 to exactly 1/10000, as tensor2tensor spaces them. */
static void fill_sinusoid(bool halves)
{
    int64_t n = b.columns / 2;
    for (int64_t p = 0; p < b.rows; p++)
        for (int64_t i = 0; i < n; i++) {
            double angle = (double)p * pow(1e4, -(double)i / (double)(n - 1));
            float *row = b.x + p * b.columns;
            row[halves ? i : 2 * i] = (float)sin(angle);
            row[halves ? n + i : 2 * i + 1] = (float)cos(angle);
        }
}

static void fill_noise(void)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < b.rows * b.columns; i++)
        b.x[i] = (float)noise(&state);
}

/* ---- streams ---- */

START_TEST(the_sinusoid_of_width_512_moves_in_286_dimensions)
{
    make_table(128, 512);
    fill_sinusoid(true);
    describe();
    ck_assert_int_eq(b.stream.moving[0], 286);
    ck_assert_int_eq(b.stream.moving[1], 355);
    ck_assert_int_eq(b.stream.moving[2], 445);
    ck_assert_double_eq_tol(b.stream.constant, 0.57, 0.005);
    ck_assert_int_eq(b.stream.rank, 40);
}
END_TEST

START_TEST(a_shift_of_the_sinusoid_is_linear_and_its_pairing_is_found)
{
    for (int halves = 0; halves < 2; halves++) {
        make_table(100, 32);
        fill_sinusoid(halves);
        describe();
        ck_assert_int_eq(b.stream.halves, halves);
        for (int k = 0; k < DESCRIBE_SHIFTS; k++)
            ck_assert_double_lt(b.stream.residual[k], 1e-6);
    }
}
END_TEST

START_TEST(a_shift_of_noise_is_not_linear)
{
    make_table(128, 64);
    fill_noise();
    describe();
    for (int k = 0; k < DESCRIBE_SHIFTS; k++)
        ck_assert_double_gt(b.stream.residual[k], 0.1);
    ck_assert_double_lt(b.stream.constant, 0.05);
    ck_assert_int_gt(b.stream.rank, 48);
}
END_TEST

/* The rank is that of the table about its mean, whichever side is longer. */
START_TEST(two_directions_make_rank_two)
{
    for (int wide = 0; wide < 2; wide++) {
        make_table(wide ? 9 : 60, wide ? 60 : 9);
        for (int64_t i = 0; i < b.rows; i++)
            for (int64_t j = 0; j < b.columns; j++)
                b.x[i * b.columns + j] =
                    5.0f + (float)(sin((double)i) * (double)(j + 1) / (double)b.columns +
                                   cos(3.0 * (double)i) * (double)(j % 3));
        describe();
        ck_assert_int_eq(b.stream.rank, 2);
    }
}
END_TEST

START_TEST(likeness_is_the_cosine_of_the_angle_between)
{
    make_table(20, 2);
    for (int64_t p = 0; p < 20; p++) {
        b.x[2 * p] = (float)(3.0 * cos(0.1 * (double)p));
        b.x[2 * p + 1] = (float)(3.0 * sin(0.1 * (double)p));
    }
    describe();
    ck_assert_int_eq(b.stream.n_distance, 5);
    for (int k = 0; k < 5; k++)
        ck_assert_double_eq_tol(b.stream.cosine[k], cos(0.1 * (double)b.stream.distance[k]), 1e-6);
    ck_assert(isnan(b.stream.residual[2]));
}
END_TEST

/* A constant row has nothing but its mean; zeros have no direction at all. */
START_TEST(tables_that_do_not_move_are_described)
{
    make_table(10, 4);
    describe();
    ck_assert(isnan(b.stream.constant));
    ck_assert_int_eq(b.stream.rank, 0);
    ck_assert(isnan(b.stream.cosine[0]));
    for (int i = 0; i < 40; i++)
        b.x[i] = 2.0f;
    describe();
    ck_assert_double_eq_tol(b.stream.constant, 1.0, 1e-12);
    ck_assert_double_eq_tol(b.stream.cosine[0], 1.0, 1e-12);
    ck_assert_int_eq(b.stream.moving[2], 0);
}
END_TEST

/* ---- bias ---- */

START_TEST(softmax_does_not_see_what_a_row_has_in_common)
{
    enum { T = 16 };
    make_table(T, T);
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++)
            b.x[i * T + j] = -0.5f * (float)(i - j) + 100.0f * (float)(i % 3);
    ck_assert_int_eq(describe_bias(&b.bias, b.x, T, &b.arena, &b.err), PEAT_OK);
    ck_assert_double_eq_tol(b.bias.distance_only, 1.0, 1e-6);
    ck_assert_double_eq_tol(b.bias.high, 0.25 * (T - 1), 1e-4);
    ck_assert_double_eq_tol(b.bias.low, -0.25 * (T - 1), 1e-4);
    ck_assert_int_eq(b.bias.distance[1], 1);
    ck_assert_double_eq_tol(b.bias.centred[0] - b.bias.centred[1], 0.5, 1e-4);
}
END_TEST

START_TEST(a_bias_of_the_key_alone_is_no_function_of_distance)
{
    enum { T = 16 };
    uint64_t state = 3;
    float key[T];
    make_table(T, T);
    for (int j = 0; j < T; j++)
        key[j] = (float)noise(&state);
    for (int i = 0; i < T * T; i++)
        b.x[i] = key[i % T];
    ck_assert_int_eq(describe_bias(&b.bias, b.x, T, &b.arena, &b.err), PEAT_OK);
    ck_assert_double_lt(b.bias.distance_only, 0.6);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"describe", bench_open, bench_close},
                    TESTS(the_sinusoid_of_width_512_moves_in_286_dimensions,
                          a_shift_of_the_sinusoid_is_linear_and_its_pairing_is_found,
                          a_shift_of_noise_is_not_linear, two_directions_make_rank_two,
                          likeness_is_the_cosine_of_the_angle_between,
                          tables_that_do_not_move_are_described,
                          softmax_does_not_see_what_a_row_has_in_common,
                          a_bias_of_the_key_alone_is_no_function_of_distance));
}
