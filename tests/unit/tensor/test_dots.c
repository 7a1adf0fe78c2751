/* SPDX-License-Identifier: MIT */
/* test_dots.c: packed operands, and products of them against sums in double precision. */
#include "tensor/dots.h"

#include "support/support.h"

static const int64_t sizes[][3] = {
    {1, 1, 1},   {3, 5, 7},    {8, 16, 32},   {13, 33, 31},  {32, 64, 16},
    {64, 48, 2}, {9, 130, 65}, {40, 17, 100}, {16, 100, 33}, {33, 20, 129},
};
enum { N_SIZES = sizeof(sizes) / sizeof(*sizes), SPARE = 3 };

static void *block(int64_t n, size_t size)
{
    void *x = aligned_alloc(64, ((size_t)n * size + 63) / 64 * 64);
    ck_assert_ptr_nonnull(x);
    return x;
}

/* [rows, cols] with spare columns, which are NaN: nothing may come from there. */
static float *matrix(int64_t rows, int64_t cols, const char *name)
{
    float *x = block(rows * (cols + SPARE), sizeof(*x));
    for (int64_t i = 0; i < rows * (cols + SPARE); i++)
        x[i] = i % (cols + SPARE) < cols
                   ? (float)(rng_uniform(rng_stream(1, "dots", name), (uint64_t)i) - 0.5)
                   : NAN;
    return x;
}

static double rounded(float x)
{
    bf16 narrow;
    bf16_round(&narrow, &x, 1);
    return (double)bf16_value(narrow);
}

/* Element [i, j] of what x [rows, cols] is, across or not. */
static double element(const float *x, int64_t cols, bool across, int64_t i, int64_t j)
{
    return rounded(across ? x[j * (cols + SPARE) + i] : x[i * (cols + SPARE) + j]);
}

/* A product with operands packed in one of the four ways. */
struct trial {
    struct dots p;
    float *x, *y, *c;
    bf16 *a, *b;
    int64_t x_cols, y_cols;
    bool x_across, y_across;
};

static struct trial trial(const int64_t *size, int flags)
{
    struct trial t = {.p = {.m = size[0], .n = size[1], .k = size[2], .alpha = 0.5f}};
    struct dots *p = &t.p;
    t.x_across = (flags & 1) != 0;
    t.y_across = (flags & 2) != 0;
    p->add = (flags & 4) != 0;
    t.x_cols = t.x_across ? p->m : p->k;
    t.y_cols = t.y_across ? p->k : p->n;
    t.x = matrix(t.x_across ? p->k : p->m, t.x_cols, "x");
    t.y = matrix(t.y_across ? p->n : p->k, t.y_cols, "y");
    p->step = dots_whole(p->k, DOTS_STEP);
    p->width = dots_whole(p->n, DOTS_COLUMNS);
    p->c_step = p->n + SPARE;
    p->a = t.a = block(p->m * p->step, sizeof(bf16));
    /* A product that begins at a later column reads whole DOTS_COLUMNS from there. */
    p->b = t.b = block(dots_whole(p->k, 2) * p->width + 2 * DOTS_COLUMNS, sizeof(bf16));
    p->c = t.c = matrix(p->m, p->n, "c");
    if (t.x_across)
        dots_rows_across(t.a, p->step, t.x, p->k, p->m, t.x_cols + SPARE);
    else
        dots_rows(t.a, p->step, t.x, p->m, p->k, t.x_cols + SPARE);
    if (t.y_across)
        dots_pairs_across(t.b, p->width, t.y, p->n, p->k, t.y_cols + SPARE);
    else
        dots_pairs(t.b, p->width, t.y, p->k, p->n, t.y_cols + SPARE);
    return t;
}

static void release(struct trial *t)
{
    free(t->x);
    free(t->y);
    free(t->c);
    free(t->a);
    free(t->b);
}

LOOP_TEST(a_product_is_the_one_of_its_rounded_operands_however_they_were_packed, 8 * N_SIZES)
{
    struct trial t = trial(sizes[_i / 8], _i % 8);
    const struct dots *p = &t.p;
    float *before = matrix(p->m, p->n, "c");
    dots_multiply(p);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->c_step; j++) {
            double had = (double)before[i * p->c_step + j], sum = 0.0, size = 0.0;
            double have = (double)p->c[i * p->c_step + j];
            if (j >= p->n) {
                ck_assert(isnan(have));
                continue;
            }
            for (int64_t k = 0; k < p->k; k++) {
                double x = element(t.x, t.x_cols, t.x_across, i, k) *
                           element(t.y, t.y_cols, t.y_across, k, j);
                sum += x;
                size += fabs(x);
            }
            sum = 0.5 * sum + (p->add ? had : 0.0);
            ck_assert_double_eq_tol(have, sum, (double)(p->k + 3) * 0x1p-24 * (size + fabs(had)));
        }
    free(before);
    release(&t);
}

LOOP_TEST(bits_depend_neither_on_the_place_nor_on_the_other_rows_and_columns, N_SIZES)
{
    struct trial t = trial(sizes[_i], 0);
    dots_multiply(&t.p);
    for (int64_t i = 0; i < t.p.m; i++)
        for (int64_t j = 0; j < t.p.n; j++) {
            float one;
            struct dots p = t.p;
            p.m = p.n = 1;
            p.a += i * p.step;
            p.b += 2 * j;
            p.c = &one;
            dots_multiply(&p);
            ck_assert_mem_eq(&one, &t.c[i * p.c_step + j], sizeof(one));
        }
    release(&t);
}

TEST(an_empty_sum_is_zero)
{
    struct trial t = trial(sizes[1], 0);
    t.p.k = 0;
    dots_multiply(&t.p);
    for (int64_t j = 0; j < t.p.n; j++)
        ck_assert(t.c[j] == 0.0f);
    ck_assert(isnan(t.c[t.p.n]));
    release(&t);
}

LOOP_TEST(a_transposed_matrix_is_written_or_added, 2 * N_SIZES)
{
    const int64_t m = sizes[_i / 2][0], n = sizes[_i / 2][1], step = dots_whole(n, DOTS_COLUMNS);
    const bool add = _i % 2 == 1;
    float *x = block(dots_whole(m, DOTS_COLUMNS) * step, sizeof(*x));
    float *y = matrix(n, m, "y"), *before = matrix(n, m, "y");
    for (int64_t i = 0; i < dots_whole(m, DOTS_COLUMNS) * step; i++)
        x[i] = (float)i;
    dots_transpose(y, m + SPARE, x, m, n, step, 2.0f, add);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            ck_assert(y[j * (m + SPARE) + i] ==
                      2.0f * x[i * step + j] + (add ? before[j * (m + SPARE) + i] : 0.0f));
        ck_assert(isnan(y[j * (m + SPARE) + m]));
    }
    free(x);
    free(y);
    free(before);
}

int main(void)
{
    if (!dots_available()) {
        printf("nothing is tested: this CPU has no products of bf16\n");
        return 0;
    }
    return run_tests((struct tests){"dots"});
}
