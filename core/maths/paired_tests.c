/* SPDX-License-Identifier: MIT */
/* paired_tests.c: tests and effect sizes of differences at the same seeds, and Holm's adjustment.
 */

#include "maths/statistics.h"

/* ---- sign-flip test ---- */

enum { EXACT_MAX = 20, HALF_MAX = EXACT_MAX / 2, DRAWS = 100000 };

/* Lists all 2^n sums of d with signs; returns their number. */
static int signed_sums(const double *d, int n, double *sum)
{
    int count = 1;
    sum[0] = 0.0;
    for (int i = 0; i < n; i++, count *= 2)
        for (int j = 0; j < count; j++) {
            sum[count + j] = sum[j] - d[i];
            sum[j] += d[i];
        }
    return count;
}

static bool reaches(double sum, double limit, bool both)
{
    return (both ? fabs(sum) : sum) >= limit;
}

/* Splits d into two halves, so every sum is made of at most n additions and ties stay equal. */
static double exact_p(const double *d, int n, double limit, bool both)
{
    double left[1 << HALF_MAX], right[1 << HALF_MAX];
    int n_left = signed_sums(d, n / 2, left), n_right = signed_sums(d + n / 2, n - n / 2, right);
    int64_t as_large = 0;
    for (int i = 0; i < n_left; i++)
        for (int j = 0; j < n_right; j++)
            as_large += reaches(left[i] + right[j], limit, both);
    return (double)as_large / ((double)n_left * n_right);
}

static double drawn_p(const double *d, int n, double limit, bool both)
{
    uint64_t stream = rng_stream(0, "signflip", "");
    int64_t as_large = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t row = rng_substream(stream, (uint64_t)draw), bits = 0;
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            if (i % 64 == 0)
                bits = rng_bits(row, (uint64_t)i / 64);
            sum += bits >> (i % 64) & 1 ? d[i] : -d[i];
        }
        as_large += reaches(sum, limit, both);
    }
    return (1.0 + (double)as_large) / (1.0 + DRAWS);
}

/* p = share of sign patterns s with sum s_i d_i >= sum d_i (two-sided: of absolute values). Sums
 * that differ only by rounding count as equal. */
static double signflip_tail(const double *d, int n, bool both)
{
    if (n < 1)
        return (double)NAN;
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        sum += d[i];
        size += fabs(d[i]);
    }
    double limit = (both ? fabs(sum) : sum) - 1e-12 * size;
    return n <= EXACT_MAX ? exact_p(d, n, limit, both) : drawn_p(d, n, limit, both);
}

/* ---- Wilcoxon's signed ranks ---- */

void mean_ranks(const double *x, int64_t n, double *rank)
{
    int64_t *place = mem_array((size_t)n, sizeof(*place), "statistics");
    sort_places(x, n, place);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && x[place[end]] == x[place[i]];)
            end++;
        for (int64_t j = i; j < end; j++)
            rank[place[j]] = 0.5 * (double)(i + 1 + end);
    }
    free(place);
}

enum { COUNTED_MAX = 200 };

/* P(S <= s) over all sign patterns, where S and s are sums of doubled ranks, which are whole
 * numbers. */
static double counted_tail(const double *rank, int n, int s)
{
    int top = n * (n + 1);
    double *share = mem_array((size_t)top + 1, sizeof(*share), "statistics"), tail = 0.0;
    for (int i = 0; i <= top; i++)
        share[i] = i == 0;
    for (int i = 0; i < n; i++) {
        int step = (int)lround(2.0 * rank[i]);
        for (int j = top; j >= 0; j--)
            share[j] = 0.5 * (share[j] + (j >= step ? share[j - step] : 0.0));
    }
    for (int i = 0; i <= s && i <= top; i++)
        tail += share[i];
    free(share);
    return tail;
}

/* P(S <= s) by the normal approximation with ties and continuity correction. */
static double normal_tail(const double *rank, int n, double s)
{
    double squares = 0.0;
    for (int i = 0; i < n; i++)
        squares += rank[i] * rank[i];
    double z = (n * (n + 1) / 4.0 - s - 0.5) / sqrt(squares / 4.0);
    return 0.5 * erfc(z / sqrt(2.0));
}

/* Ranks the sizes of the differences that are not 0, and sums the ranks of the negative ones. Sizes
 * that differ only by rounding share their rank. */
static double ranks_of(const double *d, int n, double *rank, int *kept)
{
    double *size = mem_array((size_t)n, sizeof(*size), "statistics"), negative = 0.0, largest = 0.0;
    int m = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(d[i]));
    for (int i = 0; i < n; i++)
        if (d[i] != 0.0)
            size[m++] = nearbyint(fabs(d[i]) / largest * 1e12);
    mean_ranks(size, m, rank);
    for (int i = 0, at = 0; i < n; i++)
        if (d[i] != 0.0)
            negative += rank[at++] * (d[i] < 0.0);
    free(size);
    *kept = m;
    return negative;
}

/* P(sum of ranks of the negative ones <= that of d); two-sided, twice the smaller tail. */
static double wilcoxon_tail(const double *d, int n, bool both)
{
    if (n < 1)
        return (double)NAN;
    double *rank = mem_array((size_t)n, sizeof(*rank), "statistics");
    int m;
    double sum = ranks_of(d, n, rank, &m), p = 1.0;
    if (both)
        sum = fmin(sum, m * (m + 1) / 2.0 - sum);
    if (m > COUNTED_MAX)
        p = normal_tail(rank, m, sum);
    else if (m > 0)
        p = counted_tail(rank, m, (int)lround(2.0 * sum));
    free(rank);
    return both ? fmin(1.0, 2.0 * p) : p;
}

/* ---- Student's t and effect sizes ---- */

/* NaN when the spread is 0, or only rounding. */
static double standardised(const double *d, int n)
{
    double mean = stats_mean(d, n), sd = stats_sd(d, n), size = 0.0;
    for (int i = 0; i < n; i++)
        size = fmax(size, fabs(d[i]));
    return sd > 1e-13 * size ? mean / sd : (double)NAN;
}

static double t_tail(const double *d, int n, bool both)
{
    double t = standardised(d, n) * sqrt(n);
    return both ? student_t_p(t, n - 1) : student_t_below(-t, n - 1);
}

double effect_dz(const double *d, int n)
{
    return standardised(d, n);
}

double effect_gz(const double *d, int n)
{
    int sign;
    double m = n - 1;
    if (n < 3)
        return (double)NAN;
    double j = exp(lgamma_r(m / 2.0, &sign) - lgamma_r((m - 1.0) / 2.0, &sign)) / sqrt(m / 2.0);
    return j * standardised(d, n);
}

/* ---- tests by name ---- */

const char *const paired_test_words[PAIRED_TESTS] = {"sign-flip", "wilcoxon", "t"};

static const struct {
    const char *name;
    double (*p)(const double *d, int n, bool both); /* the two-sided p, or that of "mean > 0" */
} tests[PAIRED_TESTS] = {
    [TEST_SIGN_FLIP] = {"exact sign-flip test", signflip_tail},
    [TEST_WILCOXON] = {"exact Wilcoxon signed-rank test", wilcoxon_tail},
    [TEST_T] = {"paired t test", t_tail},
};

/* p that the mean of sign * d + shift is greater than 0. */
static double shifted_p(enum paired_test test, const double *d, int n, double sign, double shift)
{
    double *x = mem_array((size_t)n, sizeof(*x), "differences");
    for (int i = 0; i < n; i++)
        x[i] = sign * d[i] + shift;
    double p = tests[test].p(x, n, false);
    free(x);
    return p;
}

double paired_p(enum paired_test test, const double *d, int n)
{
    return tests[test].p(d, n, true);
}

double paired_p_above(enum paired_test test, const double *d, int n, double limit)
{
    return shifted_p(test, d, n, 1.0, -limit);
}

double paired_p_below(enum paired_test test, const double *d, int n, double limit)
{
    return shifted_p(test, d, n, -1.0, limit);
}

double paired_p_smallest(enum paired_test test, int tails, int n)
{
    if (test == TEST_T)
        return n < 2 ? 1.0 : 0.0;
    return fmin(1.0, tails * exp2(-n));
}

bool paired_can_show(enum paired_test test, int n, int m)
{
    return m * paired_p_smallest(test, 2, n) < STATS_LEVEL;
}

int paired_pairs_needed(enum paired_test test, int tails, int m, double level)
{
    int n = 1;
    while (n < PAIRS_MAX && !(m * paired_p_smallest(test, tails, n) < level))
        n++;
    return n;
}

const char *paired_test_name(enum paired_test test)
{
    return tests[test].name;
}

/* ---- Holm ---- */

/* Holm 1979: the j-th smallest of m becomes max over i <= j of min(1, (m - i + 1) p_(i)). */
void holm_adjust(double *p, int n)
{
    double *key = mem_array((size_t)n, sizeof(*key), "p values"), so_far = 0.0;
    int64_t *place = mem_array((size_t)n, sizeof(*place), "p values");
    int m = 0;
    for (int i = 0; i < n; i++) {
        key[i] = isnan(p[i]) ? (double)INFINITY : p[i];
        m += !isnan(p[i]);
    }
    sort_places(key, n, place);
    for (int j = 0; j < m; j++)
        p[place[j]] = so_far = fmax(so_far, fmin(1.0, (m - j) * key[place[j]]));
    free(key);
    free(place);
}
