/* SPDX-License-Identifier: MIT */
/* gradient.c: the norm of all gradients. */
#include <math.h>

#include "rows/gradient_rows.h"
#include "slice.h"
#include "train/trainer.h"

/* The block is cut into this many tiles whatever its size: their sums need no memory. */
enum { NORM_TILES = 256 };

struct norm_job {
    const struct weights *weights;
    int64_t grain;
    double sum[NORM_TILES];
};

static void sum_range(void *ctx, int64_t begin, int64_t end)
{
    struct norm_job *job = ctx;
    const struct gradient_rows *rows = gradient_rows_of(job->weights->dtype);
    const size_t bytes = dtype_bytes(job->weights->dtype);
    double sum = 0.0;
    struct slice s;
    for (int i = 0; i < job->weights->n; i++) {
        const struct weight *w = job->weights->item[i];
        if (slice_of(w, begin, end, &s))
            sum += rows->squares((const char *)w->grad.data + (size_t)s.begin * bytes,
                                 s.end - s.begin);
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
