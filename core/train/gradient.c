/* SPDX-License-Identifier: MIT */
/* gradient.c: the norm of all gradients. */
#include <math.h>

#include "slice.h"
#include "tensor/vecmath.h"
#include "train/trainer.h"

/* The block is cut into this many tiles whatever its size: their sums need no memory. */
enum { NORM_TILES = 256, NORM_LANES = 8 };

struct norm_job {
    const struct weights *weights;
    int64_t grain;
    double sum[NORM_TILES];
};

/* Lane j takes elements j, j + 8, ...; lanes are added in order. A fixed order of summation that
 * leaves room for vectors. */
#define DEFINE_SQUARES(name, real)                                                                 \
    VEC_LEVELS static double name(const real *x, int64_t n)                                        \
    {                                                                                              \
        double lane[NORM_LANES] = {0.0}, sum = 0.0;                                                \
        int64_t whole = n - n % NORM_LANES;                                                        \
        for (int64_t i = 0; i < whole; i += NORM_LANES)                                            \
            for (int j = 0; j < NORM_LANES; j++)                                                   \
                lane[j] += (double)x[i + j] * (double)x[i + j];                                    \
        for (int64_t i = whole; i < n; i++)                                                        \
            lane[i - whole] += (double)x[i] * (double)x[i];                                        \
        for (int j = 0; j < NORM_LANES; j++)                                                       \
            sum += lane[j];                                                                        \
        return sum;                                                                                \
    }

DEFINE_SQUARES(squares_f32, float)
DEFINE_SQUARES(squares_f64, double)

static void sum_range(void *ctx, int64_t begin, int64_t end)
{
    struct norm_job *job = ctx;
    double sum = 0.0;
    struct slice s;
    for (int i = 0; i < job->weights->n; i++) {
        const struct weight *w = job->weights->item[i];
        if (!slice_of(w, begin, end, &s))
            continue;
        if (job->weights->dtype == PEAT_F64)
            sum += squares_f64((const double *)w->grad.data + s.begin, s.end - s.begin);
        else
            sum += squares_f32((const float *)w->grad.data + s.begin, s.end - s.begin);
    }
    job->sum[begin / job->grain] = sum;
}

double gradient_norm(const struct weights *w, const struct team *team)
{
    struct norm_job job = {.weights = w, .grain = (w->trained + NORM_TILES - 1) / NORM_TILES};
    parallel_ranges(team, w->trained, job.grain, sum_range, &job);
    double sum = 0.0;
    for (int i = 0; i < NORM_TILES; i++)
        sum += job.sum[i];
    return sqrt(sum);
}
