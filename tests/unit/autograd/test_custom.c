/* SPDX-License-Identifier: MIT */
/* test_custom.c: kernels compiled for wider vectors have the bits of the plain one. */
#include <peat/custom.h>

#include "support/support.h"

enum { UNITS = 3, N = 1000, LANES = 8 };

static double dot(const double *x, const double *y)
{
    double lane[LANES] = {0}, sum = 0;
    for (int64_t i = 0; i < N; i += LANES)
        for (int64_t l = 0; l < LANES; l++)
            lane[l] += x[i + l] * y[i + l];
    for (int64_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* y = x (x . x) + 1/3, then a square root: with a contracted sum or another order it would differ
 */
static void kernel(const peat_op_call *c, int64_t begin, int64_t end)
{
    double x[N];
    for (int64_t u = begin; u < end; u++) {
        peat_load_row(&c->src[0], u * N, N, x);
        const double by = dot(x, x);
        for (int64_t i = 0; i < N; i++)
            x[i] = sqrt(fabs(x[i] * by + 1.0 / 3.0));
        peat_store_row(&c->out[0], u * N, N, x);
    }
}
PEAT_VECTORS(kernel)

TEST(kernel_for_wide_vectors_has_the_bits_of_the_plain_one)
{
    static double from[UNITS * N], plain[UNITS * N], wide[UNITS * N];
    for (int i = 0; i < UNITS * N; i++)
        from[i] = sin(i + 1.0);
    const peat_shape shape = {2, {UNITS, N}};
    peat_view x = {.dtype = PEAT_F64, .shape = shape, .data = from},
              y = {.dtype = PEAT_F64, .shape = shape, .data = plain};
    peat_op_call c = {.n_src = 1, .src = &x, .out = &y};
    kernel(&c, 0, UNITS);
    y.data = wide;
    kernel_vectors(&c, 1, UNITS);
    ck_assert(wide[0] == 0.0);
    kernel_vectors(&c, 0, 1);
    ck_assert(plain[0] > 0.0 && memcmp(plain, wide, sizeof(plain)) == 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        memset(wide, 0, sizeof(wide));
        kernel_v3(&c, 0, UNITS);
        ck_assert(memcmp(plain, wide, sizeof(plain)) == 0);
    }
#endif
}

int main(void)
{
    return run_tests((struct tests){"custom"});
}
