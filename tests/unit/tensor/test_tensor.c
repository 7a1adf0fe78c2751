/* SPDX-License-Identifier: MIT */
/* test_tensor.c: shapes, strides, broadcasting, copies and sums over axes. */
#include "tensor/tensor.h"

#include "support/support.h"
#include "tensor/loop.h"

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

/* 0, 1, 2, ... */
static struct tensor counting(double *data, int rank, const int64_t *dim)
{
    struct tensor t = tensor_shape(PEAT_F64, rank, dim);
    t.data = data;
    int64_t n = tensor_count(&t);
    for (int64_t i = 0; i < n; i++)
        data[i] = (double)i;
    return t;
}

static struct tensor transposed(struct tensor t)
{
    struct tensor x = t;
    for (int i = 0; i < t.rank; i++) {
        x.dim[i] = t.dim[t.rank - 1 - i];
        x.stride[i] = t.stride[t.rank - 1 - i];
    }
    return x;
}

TEST(new_shapes_are_row_major_and_aligned)
{
    struct arena a;
    arena_init(&a, "test", 4096);
    struct tensor t = tensor_new(&a, PEAT_F32, 3, DIMS(2, 3, 5));
    ck_assert_int_eq(t.stride[0], 15);
    ck_assert_int_eq(t.stride[1], 5);
    ck_assert_int_eq(t.stride[2], 1);
    ck_assert(tensor_contiguous(&t));
    ck_assert_uint_eq(tensor_bytes(&t), 120);
    ck_assert_uint_eq((uintptr_t)t.data % 64, 0);
    arena_release(&a);
}

TEST(counts_notice_overflow_and_negative_lengths)
{
    struct tensor t = tensor_shape(PEAT_F32, 2, DIMS(INT64_C(1) << 40, INT64_C(1) << 40));
    ck_assert_int_eq(tensor_count(&t), -1);
    ck_assert(tensor_bytes(&t) == SIZE_MAX);
    t = tensor_shape(PEAT_F64, 1, DIMS(INT64_MAX));
    ck_assert_int_eq(tensor_count(&t), -1);
    t = tensor_shape(PEAT_F64, 2, DIMS(3, -1));
    ck_assert_int_eq(tensor_count(&t), -1);
    t = tensor_shape(PEAT_F64, 3, DIMS(INT64_MAX, 0, INT64_MAX));
    ck_assert_int_eq(tensor_count(&t), 0);
    t = tensor_shape(PEAT_F64, 0, NULL);
    ck_assert_int_eq(tensor_count(&t), 1);
}

TEST(contiguity_ignores_axes_of_one)
{
    struct tensor t = tensor_shape(PEAT_F32, 3, DIMS(2, 1, 5));
    t.stride[1] = 99;
    ck_assert(tensor_contiguous(&t));
    t.stride[0] = 6;
    ck_assert(!tensor_contiguous(&t));
}

TEST(broadcasting_follows_numpy)
{
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    struct tensor a = tensor_shape(PEAT_F32, 3, DIMS(2, 1, 5));
    struct tensor b = tensor_shape(PEAT_F32, 2, DIMS(3, 1));
    ck_assert(shape_broadcast(&a, &b, &rank, dim));
    ck_assert_int_eq(rank, 3);
    ck_assert(dim[0] == 2 && dim[1] == 3 && dim[2] == 5);
    b = tensor_shape(PEAT_F32, 1, DIMS(4));
    ck_assert(!shape_broadcast(&a, &b, &rank, dim));
    b = tensor_shape(PEAT_F32, 1, DIMS(0));
    a = tensor_shape(PEAT_F32, 1, DIMS(1));
    ck_assert(shape_broadcast(&a, &b, &rank, dim));
    ck_assert_int_eq(dim[0], 0);
}

TEST(broadcast_views_repeat_elements)
{
    double data[3];
    struct tensor t = counting(data, 2, DIMS(3, 1));
    struct tensor wide = tensor_broadcast_to(&t, 3, DIMS(2, 3, 4));
    for (int64_t i = 0; i < 24; i++)
        ck_assert(tensor_get(&wide, i) == (double)(i / 4 % 3));
}

TEST(shape_text_never_overruns)
{
    struct tensor t = tensor_shape(PEAT_F32, 3, DIMS(2, 3, 4));
    char text[32], small[6];
    ck_assert_str_eq(tensor_shape_text(&t, text, sizeof(text)), "[2, 3, 4]");
    tensor_shape_text(&t, small, sizeof(small));
    ck_assert_str_eq(small, "[2, 3");
    t.rank = 0;
    ck_assert_str_eq(tensor_shape_text(&t, text, sizeof(text)), "[]");
}

TEST(copies_follow_strides_and_convert)
{
    double data[12];
    float out[12];
    int32_t whole[12];
    struct tensor t = counting(data, 2, DIMS(3, 4)), back = transposed(t);
    struct tensor f = tensor_shape(PEAT_F32, 2, DIMS(4, 3));
    struct tensor i32 = tensor_shape(PEAT_I32, 2, DIMS(4, 3));
    f.data = out;
    i32.data = whole;
    tensor_copy(&f, &back);
    tensor_copy(&i32, &f);
    for (int64_t i = 0; i < 12; i++) {
        ck_assert(out[i] == (float)(i % 3 * 4 + i / 3));
        ck_assert_int_eq(whole[i], (int)(i % 3 * 4 + i / 3));
    }
    double sum[12];
    struct tensor s = counting(sum, 2, DIMS(4, 3));
    tensor_add(&s, &back);
    for (int64_t i = 0; i < 12; i++)
        ck_assert(sum[i] == (double)(i + i % 3 * 4 + i / 3));
}

TEST(empty_tensors_are_walked_without_a_step)
{
    double data[1] = {7.0};
    struct tensor t = tensor_shape(PEAT_F64, 3, DIMS(2, 0, 3));
    t.data = data;
    tensor_copy(&t, &t);
    tensor_add(&t, &t);
    tensor_fill(&t, 1.0);
    ck_assert(data[0] == 7.0);
}

TEST(loops_merge_axes_that_continue_each_other)
{
    double x[60], y[5];
    struct tensor a = counting(x, 3, DIMS(3, 4, 5));
    struct tensor b = counting(y, 1, DIMS(5)), wide = tensor_broadcast_to(&b, 3, DIMS(3, 4, 5));
    struct loop l;
    loop_init(&l, 1, (const struct tensor *const[]){&a});
    ck_assert_int_eq(l.rank, 1);
    ck_assert_int_eq(l.dim[0], 60);
    loop_init(&l, 2, (const struct tensor *const[]){&a, &wide});
    ck_assert_int_eq(l.rank, 2);
    ck_assert(l.dim[0] == 12 && l.dim[1] == 5);
    ck_assert(l.stride[1][0] == 0 && l.stride[1][1] == 1);
    struct tensor back = transposed(a);
    loop_init(&l, 1, (const struct tensor *const[]){&back});
    ck_assert_int_eq(l.rank, 3);
}

/* y [last axis of x, ..., first] += 2 x, the axes of x reversed. */
static void check_crossing(int rank, const int64_t *dim, bool dense, int threads)
{
    struct arena a;
    struct team team = {threads};
    arena_init(&a, "test", 4096);
    const int64_t n = tensor_count(&(struct tensor){.rank = rank, .dim = {dim[0], dim[1], dim[2]}});
    double *from = ARENA_ARRAY(&a, n, double), *to = ARENA_ARRAY(&a, n, double);
    struct tensor x = counting(from, rank, dim), turned = transposed(x);
    struct tensor y = counting(to, rank, turned.dim), back = transposed(y);
    if (dense)
        loop_axpy(&team, &y, 2.0, &turned);
    else
        loop_axpy(&team, &back, 2.0, &x);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i % dim[0], j = i / dim[0] % dim[1], m = i / dim[0] / dim[1];
        wrong += to[i] != (double)i + 2.0 * from[(k * dim[1] + j) * dim[2] + m];
    }
    ck_assert_int_eq(wrong, 0);
    arena_release(&a);
}

/* Rows are walked in blocks where they are columns of another tensor. */
TEST(rows_that_cross_columns_are_walked_once)
{
    static const int64_t shape[][3] = {{64, 1, 64},  {100, 3, 70}, {70, 5, 31}, {31, 2, 70},
                                       {65, 40, 66}, {1, 96, 96},  {96, 96, 1}, {33, 1, 128}};
    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++)
        for (int threads = 1; threads <= 3; threads++)
            for (int dense = 0; dense < 2; dense++)
                check_crossing(3, shape[i], dense, threads);
}

static void add_up(const void *ctx, const struct loop_row *row)
{
    double *sum = *(double *const *)ctx;
    for (int64_t i = 0; i < row->n; i++)
        *sum = 31.0 * *sum + ((const double *)row->p[0])[i * row->stride[0]];
}

TEST(ranges_of_a_loop_cover_it_once_in_order)
{
    double x[30], whole = 0.0, parts = 0.0, *sum = &whole;
    struct tensor t = counting(x, 3, DIMS(2, 3, 5));
    /* Rows of 3 with gaps, so that parts begin and end inside them. */
    t.dim[2] = 3;
    struct loop l;
    loop_init(&l, 1, (const struct tensor *const[]){&t});
    loop_range(&l, 0, l.count, add_up, &sum);
    sum = &parts;
    for (int64_t i = 0; i < l.count; i += 4)
        loop_range(&l, i, i + 4 < l.count ? i + 4 : l.count, add_up, &sum);
    ck_assert(whole == parts && whole > 0.0);
}

/* A dst of the given shape summed from `large`, against the plain loop over all elements. */
static void check_reduce(struct tensor large, int rank, const int64_t *dim, int threads)
{
    struct arena a;
    struct team team = {threads};
    arena_init(&a, "test", 4096);
    struct tensor dst = tensor_new(&a, PEAT_F64, rank, dim);
    struct tensor want = tensor_new(&a, PEAT_F64, rank, dim);
    tensor_fill(&dst, 0.5);
    tensor_fill(&want, 0.5);
    struct tensor wide = tensor_broadcast_to(&want, large.rank, large.dim);
    int64_t n = tensor_count(&large);
    for (int64_t i = 0; i < n; i++)
        tensor_set(&wide, i, tensor_get(&wide, i) + tensor_get(&large, i));
    size_t used = a.used;
    ck_assert(reduce_add(&team, &a, &dst, &large));
    ck_assert_uint_eq(a.used, used);
    /* Whole numbers below 2^53 and one half: every order gives the same sum. */
    ck_assert_mem_eq(dst.data, want.data, tensor_bytes(&dst));
    arena_release(&a);
}

TEST(sums_over_axes_are_exact_for_whole_numbers)
{
    static double x[4 * 50 * 6 * 70];
    struct tensor t = counting(x, 4, DIMS(4, 50, 6, 70)), back = transposed(t);
    for (int threads = 1; threads <= 4; threads += 3) {
        check_reduce(t, 1, DIMS(70), threads);
        check_reduce(t, 4, DIMS(1, 50, 6, 70), threads);
        check_reduce(t, 4, DIMS(4, 50, 6, 1), threads);
        check_reduce(t, 3, DIMS(50, 1, 1), threads);
        check_reduce(t, 4, DIMS(4, 1, 6, 1), threads);
        check_reduce(t, 1, DIMS(1), threads);
        check_reduce(t, 4, DIMS(4, 50, 6, 70), threads);
        check_reduce(back, 4, DIMS(1, 6, 1, 4), threads);
        check_reduce(back, 2, DIMS(50, 1), threads);
    }
}

/* 1 + 1e16 is 1e16, so that the sum is 0 in this order and 1 in the other. */
TEST(partial_sums_are_added_in_the_order_of_their_tiles)
{
    enum { TILE = 16384 };
    static double x[3 * TILE];
    struct arena a;
    x[0] = 1.0;
    x[TILE] = 1e16;
    x[2 * TILE] = -1e16;
    struct tensor large = tensor_shape(PEAT_F64, 1, DIMS(3 * TILE));
    large.data = x;
    for (int threads = 1; threads <= 3; threads++) {
        struct team team = {threads};
        arena_init(&a, "test", 4096);
        struct tensor sum = tensor_new(&a, PEAT_F64, 1, DIMS(1));
        tensor_fill(&sum, 0.0);
        ck_assert(reduce_add(&team, &a, &sum, &large));
        ck_assert_double_eq(tensor_get(&sum, 0), 0.0);
        arena_release(&a);
    }
}

TEST(axes_are_split_by_what_moves)
{
    struct axes moves, repeats;
    axes_split(4, DIMS(2, 3, 1, 5), DIMS(3, 1, 0, 0), &moves, &repeats);
    ck_assert(moves.count == 6 && repeats.count == 5);
    ck_assert_int_eq(axes_offset(&moves, 4, DIMS(100, 10, 1, 1000)), 110);
    ck_assert_int_eq(axes_offset(&repeats, 4, DIMS(100, 10, 1, 1000)), 4000);
}

int main(void)
{
    return run_tests((struct tests){"tensor"});
}
