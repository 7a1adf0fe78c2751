/* SPDX-License-Identifier: MIT */
/* test_describe.c: statistics of tables whose answers are known, and their colours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/describe.h"
#include "plot/heatmap.h"
#include "support/support.h"

/* A table under description. */
struct bench {
    struct arena arena;
    struct error err;
    struct stream_description stream;
    struct bias_description bias;
    int64_t rows, columns;
    float *x;
};

static void bench_open(struct bench *b, int64_t rows, int64_t columns)
{
    *b = (struct bench){.rows = rows, .columns = columns};
    arena_init(&b->arena, "describe", 1 << 16);
    b->x = ARENA_ARRAY(&b->arena, rows * columns, float);
    ck_assert_ptr_nonnull(b->x);
}

static void bench_close(struct bench *b)
{
    arena_release(&b->arena);
}

static void describe(struct bench *b)
{
    ck_assert_int_eq(describe_stream(&b->stream, b->x, b->rows, b->columns, &b->arena, &b->err),
                     PEAT_OK);
}

/* A fixed sequence without structure, in [-1, 1). */
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* Frequencies from 1 to exactly 1/10000, as tensor2tensor spaces them. */
static void fill_sinusoid(struct bench *b, bool halves)
{
    int64_t n = b->columns / 2;
    for (int64_t p = 0; p < b->rows; p++)
        for (int64_t i = 0; i < n; i++) {
            double angle = (double)p * pow(1e4, -(double)i / (double)(n - 1));
            float *row = b->x + p * b->columns;
            row[halves ? i : 2 * i] = (float)sin(angle);
            row[halves ? n + i : 2 * i + 1] = (float)cos(angle);
        }
}

static void fill_noise(struct bench *b)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < b->rows * b->columns; i++)
        b->x[i] = (float)noise(&state);
}

/* ---- streams ---- */

START_TEST(the_sinusoid_of_width_512_moves_in_286_dimensions)
{
    struct bench b;
    bench_open(&b, 128, 512);
    fill_sinusoid(&b, true);
    describe(&b);
    ck_assert_int_eq(b.stream.moving[0], 286);
    ck_assert_int_eq(b.stream.moving[1], 355);
    ck_assert_int_eq(b.stream.moving[2], 445);
    ck_assert_double_eq_tol(b.stream.constant, 0.57, 0.005);
    ck_assert_int_eq(b.stream.rank, 40);
    bench_close(&b);
}
END_TEST

START_TEST(a_shift_of_the_sinusoid_is_linear_and_its_pairing_is_found)
{
    for (int halves = 0; halves < 2; halves++) {
        struct bench b;
        bench_open(&b, 100, 32);
        fill_sinusoid(&b, halves);
        describe(&b);
        ck_assert_int_eq(b.stream.halves, halves);
        for (int k = 0; k < DESCRIBE_SHIFTS; k++)
            ck_assert_double_lt(b.stream.residual[k], 1e-6);
        bench_close(&b);
    }
}
END_TEST

START_TEST(a_shift_of_noise_is_not_linear)
{
    struct bench b;
    bench_open(&b, 128, 64);
    fill_noise(&b);
    describe(&b);
    for (int k = 0; k < DESCRIBE_SHIFTS; k++)
        ck_assert_double_gt(b.stream.residual[k], 0.1);
    ck_assert_double_lt(b.stream.constant, 0.05);
    ck_assert_int_gt(b.stream.rank, 48);
    bench_close(&b);
}
END_TEST

/* The rank is that of the table about its mean, whichever side is longer. */
START_TEST(two_directions_make_rank_two)
{
    for (int wide = 0; wide < 2; wide++) {
        struct bench b;
        bench_open(&b, wide ? 9 : 60, wide ? 60 : 9);
        for (int64_t i = 0; i < b.rows; i++)
            for (int64_t j = 0; j < b.columns; j++)
                b.x[i * b.columns + j] =
                    5.0f + (float)(sin((double)i) * (double)(j + 1) / (double)b.columns +
                                   cos(3.0 * (double)i) * (double)(j % 3));
        describe(&b);
        ck_assert_int_eq(b.stream.rank, 2);
        bench_close(&b);
    }
}
END_TEST

START_TEST(likeness_is_the_cosine_of_the_angle_between)
{
    struct bench b;
    bench_open(&b, 20, 2);
    for (int64_t p = 0; p < 20; p++) {
        b.x[2 * p] = (float)(3.0 * cos(0.1 * (double)p));
        b.x[2 * p + 1] = (float)(3.0 * sin(0.1 * (double)p));
    }
    describe(&b);
    ck_assert_int_eq(b.stream.n_distance, 5);
    for (int k = 0; k < 5; k++)
        ck_assert_double_eq_tol(b.stream.cosine[k], cos(0.1 * (double)b.stream.distance[k]), 1e-6);
    ck_assert(isnan(b.stream.residual[2]));
    bench_close(&b);
}
END_TEST

/* A constant row has nothing but its mean; zeros have no direction at all. */
START_TEST(tables_that_do_not_move_are_described)
{
    struct bench b;
    bench_open(&b, 10, 4);
    describe(&b);
    ck_assert(isnan(b.stream.constant));
    ck_assert_int_eq(b.stream.rank, 0);
    ck_assert(isnan(b.stream.cosine[0]));
    for (int i = 0; i < 40; i++)
        b.x[i] = 2.0f;
    describe(&b);
    ck_assert_double_eq_tol(b.stream.constant, 1.0, 1e-12);
    ck_assert_double_eq_tol(b.stream.cosine[0], 1.0, 1e-12);
    ck_assert_int_eq(b.stream.moving[2], 0);
    bench_close(&b);
}
END_TEST

/* ---- bias ---- */

START_TEST(softmax_does_not_see_what_a_row_has_in_common)
{
    enum { T = 16 };
    struct bench b;
    bench_open(&b, T, T);
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++)
            b.x[i * T + j] = -0.5f * (float)(i - j) + 100.0f * (float)(i % 3);
    ck_assert_int_eq(describe_bias(&b.bias, b.x, T, &b.arena, &b.err), PEAT_OK);
    ck_assert_double_eq_tol(b.bias.distance_only, 1.0, 1e-6);
    ck_assert_double_eq_tol(b.bias.high, 0.25 * (T - 1), 1e-4);
    ck_assert_double_eq_tol(b.bias.low, -0.25 * (T - 1), 1e-4);
    ck_assert_int_eq(b.bias.distance[1], 1);
    ck_assert_double_eq_tol(b.bias.centred[0] - b.bias.centred[1], 0.5, 1e-4);
    bench_close(&b);
}
END_TEST

START_TEST(a_bias_of_the_key_alone_is_no_function_of_distance)
{
    enum { T = 16 };
    struct bench b;
    uint64_t state = 3;
    float key[T];
    bench_open(&b, T, T);
    for (int j = 0; j < T; j++)
        key[j] = (float)noise(&state);
    for (int i = 0; i < T * T; i++)
        b.x[i] = key[i % T];
    ck_assert_int_eq(describe_bias(&b.bias, b.x, T, &b.arena, &b.err), PEAT_OK);
    ck_assert_double_lt(b.bias.distance_only, 0.6);
    bench_close(&b);
}
END_TEST

/* ---- colours ---- */

START_TEST(zero_is_pale_and_both_signs_have_the_same_range)
{
    const float x[] = {-1.0f, 0.5f, 4.0f, (float)NAN};
    const struct heatmap h = {.value = x, .sheets = 1, .rows = 2, .columns = 2};
    double low, high;
    unsigned char zero[3], least[3], most[3];
    heatmap_range(&h, &low, &high);
    ck_assert_double_eq(low, -4.0);
    ck_assert_double_eq(high, 4.0);
    heatmap_colour(0.0, low, high, zero);
    heatmap_colour(low, low, high, least);
    heatmap_colour(high, low, high, most);
    ck_assert_int_gt(zero[0], 240);
    ck_assert_int_gt(least[2], least[0]);
    ck_assert_int_gt(most[0], most[2]);
}
END_TEST

START_TEST(values_of_one_sign_darken_away_from_zero)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const float x[] = {(float)sign, 2.0f * (float)sign};
        const struct heatmap h = {.value = x, .sheets = 1, .rows = 1, .columns = 2};
        double low, high;
        unsigned char near[3], far[3];
        heatmap_range(&h, &low, &high);
        heatmap_colour(sign, low, high, near);
        heatmap_colour(2.0 * sign, low, high, far);
        ck_assert_int_gt(near[0], 200);
        ck_assert_int_lt(far[0], 50);
    }
}
END_TEST

START_TEST(a_table_without_range_still_has_one)
{
    const float same[] = {3.0f, 3.0f}, none[] = {(float)NAN, (float)NAN};
    struct heatmap h = {.value = same, .sheets = 1, .rows = 1, .columns = 2};
    double low, high;
    heatmap_range(&h, &low, &high);
    ck_assert_double_lt(low, high);
    h.value = none;
    heatmap_range(&h, &low, &high);
    ck_assert_double_lt(low, high);
}
END_TEST

/* Big-endian, at a fixed place of the first chunk. */
static int png_side(const struct strbuf *png, int at)
{
    const unsigned char *c = (const unsigned char *)png->text + at;
    return c[0] << 24 | c[1] << 16 | c[2] << 8 | c[3];
}

START_TEST(a_picture_has_a_square_for_each_value)
{
    const float x[12] = {0};
    const struct heatmap h = {.value = x, .sheets = 1, .rows = 3, .columns = 4};
    struct strbuf png;
    struct error err = {0};
    strbuf_init(&png);
    if (heatmap_png(&h, &png, &err) == PEAT_OK) {
        ck_assert_int_eq(memcmp(png.text, "\x89PNG\r\n\x1a\n", 8), 0);
        ck_assert_int_eq(png_side(&png, 16), 512);
        ck_assert_int_eq(png_side(&png, 20), 384);
    } else {
        ck_assert_msg(strstr(err.text, "libpng-dev"), "%s", err.text);
    }
    strbuf_release(&png);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("describe");
    TCase *tests = tcase_create("describe");
    tcase_add_test(tests, the_sinusoid_of_width_512_moves_in_286_dimensions);
    tcase_add_test(tests, a_shift_of_the_sinusoid_is_linear_and_its_pairing_is_found);
    tcase_add_test(tests, a_shift_of_noise_is_not_linear);
    tcase_add_test(tests, two_directions_make_rank_two);
    tcase_add_test(tests, likeness_is_the_cosine_of_the_angle_between);
    tcase_add_test(tests, tables_that_do_not_move_are_described);
    tcase_add_test(tests, softmax_does_not_see_what_a_row_has_in_common);
    tcase_add_test(tests, a_bias_of_the_key_alone_is_no_function_of_distance);
    tcase_add_test(tests, zero_is_pale_and_both_signs_have_the_same_range);
    tcase_add_test(tests, values_of_one_sign_darken_away_from_zero);
    tcase_add_test(tests, a_table_without_range_still_has_one);
    tcase_add_test(tests, a_picture_has_a_square_for_each_value);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
