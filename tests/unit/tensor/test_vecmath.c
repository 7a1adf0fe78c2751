/* SPDX-License-Identifier: MIT */
/* The fast row functions against libm in double precision. */
#include "support/support.h"
#include "tensor/vecmath.h"

static double exact_sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double exact_log_sigmoid(double x)
{
    return x < 0.0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}

static double exact_softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double exact_log_sigmoid_slope(double x)
{
    return 1.0 / (1.0 + exp(x));
}

static double exact_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static double exact_silu(double x)
{
    return x / (1.0 + exp(-x));
}

static double exact_gelu(double x)
{
    return x * exact_cdf(x);
}

static double exact_gelu_slope(double x)
{
    return exact_cdf(x) + x * exp(-0.5 * x * x) / sqrt(2.0 * acos(-1.0));
}

static double exact_gelu_tanh(double x)
{
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/* The derivative by a difference quotient: independent of the formula in use. */
static double exact_gelu_tanh_slope(double x)
{
    const double h = 1e-5;
    return (exact_gelu_tanh(x + h) - exact_gelu_tanh(x - h)) / (2.0 * h);
}

#define ROWS(name) offsetof(struct vec_rows, name)

static const struct {
    const char *name;
    size_t rows;
    double (*exact)(double);
} maps[] = {
    {"exp", ROWS(exp), exp},
    {"tanh", ROWS(tanh), tanh},
    {"sigmoid", ROWS(sigmoid), exact_sigmoid},
    {"log_sigmoid", ROWS(log_sigmoid), exact_log_sigmoid},
    {"softplus", ROWS(softplus), exact_softplus},
    {"erf", ROWS(erf), erf},
    {"silu", ROWS(silu), exact_silu},
    {"gelu", ROWS(gelu), exact_gelu},
    {"gelu_tanh", ROWS(gelu_tanh), exact_gelu_tanh},
};
static const struct {
    const char *name;
    size_t rows;
    double (*exact)(double);
} grads[] = {
    {"log_sigmoid", ROWS(log_sigmoid_grad), exact_log_sigmoid_slope},
    {"softplus", ROWS(softplus_grad), exact_sigmoid},
    {"gelu", ROWS(gelu_grad), exact_gelu_slope},
    {"gelu_tanh", ROWS(gelu_tanh_grad), exact_gelu_tanh_slope},
};
enum { N_MAP = sizeof(maps) / sizeof(*maps), N_GRAD = sizeof(grads) / sizeof(*grads), ROW = 67 };

static vec_map *map_in(const struct vec_rows *rows, size_t i)
{
    return *(vec_map *const *)(const void *)((const char *)rows + maps[i].rows);
}

static vec_grad *grad_in(const struct vec_rows *rows, size_t i)
{
    return *(vec_grad *const *)(const void *)((const char *)rows + grads[i].rows);
}

static vec_map *map_of(int i, peat_dtype dtype)
{
    return map_in(vec_rows_of(dtype), (size_t)i);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

TEST(exp_is_relatively_exact_over_its_range)
{
    double worst = 0.0;
    for (uint32_t sign = 0; sign <= 1; sign++)
        for (uint32_t bits = 0; bits < UINT32_C(0x43000000); bits += 5003) {
            float x = float_of(bits | sign << 31), y;
            if (x < -87.33f || x > 88.72f)
                continue;
            vec_rows_f32_here()->exp(&y, &x, 1);
            double want = exp((double)x);
            worst = fmax(worst, fabs((double)y - want) / want);
        }
    ck_assert_msg(worst < 2e-7, "%g", worst);
}

TEST(exp_ends_in_zero_and_infinity)
{
    const float x[] = {-INFINITY, -3e38f, -1e30f, -1000.0f, -103.9f,
                       -88.0f,    88.8f,  1e30f,  INFINITY};
    float y[9];
    vec_rows_f32_here()->exp(y, x, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_msg(y[i] == (x[i] < 0.0f ? 0.0f : INFINITY), "exp(%g) = %g", (double)x[i],
                      (double)y[i]);
}

LOOP_TEST(f32_is_within_its_bound, N_MAP)
{
    if (maps[_i].rows == ROWS(exp))
        return;
    for (double at = -30.0; at < 30.0; at += 5e-3) {
        float x = (float)at, y;
        map_of(_i, PEAT_F32)(&y, &x, 1);
        double error = fabs((double)y - maps[_i].exact((double)x));
        ck_assert_msg(error < 5e-7 * fmax(1.0, fabs(at)), "%s(%g): %g", maps[_i].name, at, error);
    }
}

TEST(small_arguments_keep_their_relative_error)
{
    for (double at = 1e-30; at < 1e-2; at *= 1.7) {
        float x = (float)at, y;
        vec_rows_f32_here()->tanh(&y, &x, 1);
        ck_assert_double_le(fabs((double)y / tanh((double)x) - 1.0), 3e-7);
        vec_rows_f32_here()->erf(&y, &x, 1);
        ck_assert_double_le(fabs((double)y / erf((double)x) - 1.0), 3e-7);
    }
}

/* Where the one is near 1 and its logarithm near 0, by the exponential that is left. */
TEST(small_logarithms_keep_their_relative_error)
{
    for (double at = 0.0; at < 80.0; at += 0.03) {
        float x = (float)at, minus = -x, y;
        vec_rows_f32_here()->log_sigmoid(&y, &x, 1);
        ck_assert_double_le(fabs((double)y / exact_log_sigmoid((double)x) - 1.0), 4e-7);
        vec_rows_f32_here()->softplus(&y, &minus, 1);
        ck_assert_double_le(fabs((double)y / exact_softplus(-(double)x) - 1.0), 4e-7);
    }
}

LOOP_TEST(gradients_are_added_or_written_and_within_their_bound, N_GRAD)
{
    for (double at = -12.0; at < 12.0; at += 5e-3) {
        for (int fresh = 0; fresh < 2; fresh++) {
            float x = (float)at, dy = 2.0f, dx = 1.0f;
            grad_in(vec_rows_f32_here(), (size_t)_i)(&dx, &x, &dy, 1, fresh);
            double want = (fresh ? 0.0 : 1.0) + 2.0 * grads[_i].exact((double)x);
            ck_assert_msg(fabs((double)dx - want) < 2e-6, "%s at %g: %g, not %g", grads[_i].name,
                          at, (double)dx, want);
            double wide = (double)x, wide_dy = 2.0, wide_dx = 1.0;
            grad_in(vec_rows_f64_here(), (size_t)_i)(&wide_dx, &wide, &wide_dy, 1, fresh);
            ck_assert_double_eq_tol(wide_dx, want, 1e-9);
        }
    }
}

LOOP_TEST(f64_is_exact, N_MAP)
{
    for (double at = -30.0; at < 30.0; at += 0.37) {
        double y, want = maps[_i].exact(at);
        map_of(_i, PEAT_F64)(&y, &at, 1);
        ck_assert_double_eq_tol(y, want, 1e-14 * fmax(1.0, fabs(want)));
    }
}

/* Every length and start, in place or not: the bits of an element are those it has alone. */
LOOP_TEST(an_element_does_not_depend_on_its_place, N_MAP)
{
    float x[ROW], y[ROW], alone[ROW];
    for (int i = 0; i < ROW; i++) {
        x[i] = (float)(i * i % 41) * 0.5f - 10.0f;
        map_of(_i, PEAT_F32)(&alone[i], &x[i], 1);
    }
    for (int from = 0; from < 17; from++)
        for (int n = 0; from + n <= ROW; n++) {
            map_of(_i, PEAT_F32)(y, x + from, n);
            ck_assert_mem_eq(y, alone + from, (size_t)n * sizeof(*y));
            memcpy(y, x, sizeof(y));
            map_of(_i, PEAT_F32)(y + from, y + from, n);
            ck_assert_mem_eq(y + from, alone + from, (size_t)n * sizeof(*y));
            ck_assert_mem_eq(y, x, (size_t)from * sizeof(*y));
        }
}

LOOP_TEST(nan_stays, N_MAP)
{
    const float x = NAN, negative = -NAN, strange = float_of(UINT32_C(0x7fc12345));
    float y;
    map_of(_i, PEAT_F32)(&y, &x, 1);
    ck_assert(isnan(y));
    map_of(_i, PEAT_F32)(&y, &negative, 1);
    ck_assert(isnan(y));
    map_of(_i, PEAT_F32)(&y, &strange, 1);
    ck_assert(isnan(y));
}

TEST(exp_sum_is_the_sum_of_what_it_writes)
{
    float x[ROW], y[ROW], want[ROW];
    for (int i = 0; i < ROW; i++)
        x[i] = (float)(i * i % 41) * 0.1f;
    for (int n = 0; n <= ROW; n++) {
        float sum = (float)vec_rows_f32_here()->exp_sum(y, x, 2.0, n);
        double expected = 0.0;
        for (int i = 0; i < n; i++) {
            float shifted = x[i] - 2.0f;
            vec_rows_f32_here()->exp(&want[i], &shifted, 1);
            expected += (double)want[i];
        }
        ck_assert_mem_eq(y, want, (size_t)n * sizeof(*y));
        ck_assert_double_eq_tol((double)sum, expected, 1e-6 * expected + 1e-9);
    }
}

/* Numbers of every size and sign, and those that are none. */
static void fill_with_everything(float *x, int n)
{
    static const float ends[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-42f, 88.72f, -87.33f};
    for (int i = 0; i < n; i++) {
        float size = float_of((uint32_t)(i * 37 % 60 + 100) << 23);
        x[i] = i % 5 == 0 ? ends[i / 5 % 8] : (i % 2 ? -size : size) * (1.0f + (float)i / 97.0f);
    }
}

static void run_all(const struct vec_rows *rows, const float *x, float *y, int n)
{
    for (size_t k = 0; k < N_MAP; k++, y += n)
        map_in(rows, k)(y, x, n);
    for (size_t k = 0; k < 2 * (size_t)N_GRAD; k++, y += n)
        grad_in(rows, k / 2)(y, x, x, n, k % 2 != 0);
    rows->gelu_both(y, y + n, x, n);
    rows->gelu_tanh_both(y + 2 * n, y + 3 * n, x, n);
    rows->silu_both(y + 4 * n, y + 5 * n, x, n);
    y[6 * n] = (float)rows->exp_sum(y + 6 * n + 1, x, 2.0, n);
}

TEST(every_level_gives_the_same_bits)
{
    enum { ALL = 25 * ROW };
    float x[ROW], base[ALL], y[ALL];
    for (int n = 1; n <= ROW; n++) {
        fill_with_everything(x, n);
        memset(base, 0, sizeof(base));
        run_all(vec_rows_f32_at(LEVEL_BASE), x, base, n);
        for (int level = LEVEL_BASE + 1; level <= (int)level_here(); level++) {
            memset(y, 0, sizeof(y));
            run_all(vec_rows_f32_at((enum cpu_level)level), x, y, n);
            for (int i = 0; i < ALL; i++)
                ck_assert_msg(memcmp(&y[i], &base[i], sizeof(*y)) == 0 ||
                                  (isnan(y[i]) && isnan(base[i])),
                              "level %d, %d of rows of %d: %.9g, not %.9g", level, i, n,
                              (double)y[i], (double)base[i]);
        }
    }
}

int main(void)
{
    return run_tests((struct tests){"vecmath"});
}
