/* SPDX-License-Identifier: MIT */
/* optimiser.c: the learning rate of a step, the norm of all gradients, and the update of all
 * weights in one pass over values, gradients and moments. */

#include "rows/optimiser_rows.h"
#include "train/trainer.h"

/* ---- the learning rate ---- */

int64_t schedule_warmup(const struct train_config *c)
{
    if (c->warmup >= 0)
        return c->warmup;
    return at_most(c->steps / 10, c->schedule == SCHEDULE_WSD ? 100 : 200);
}

int64_t schedule_flat_until(const struct train_config *c)
{
    if (c->schedule != SCHEDULE_WSD)
        return schedule_warmup(c);
    int64_t decay = llround(c->decay * (double)c->steps);
    return c->steps - at_least(decay, 1);
}

/* The rate, from lr_min (0) to lr (1), at a share x in (0, 1] of the descent. Cosine: Loshchilov
 * and Hutter 2017, eq. 5, one cycle. */
static double height(const struct train_config *c, double x)
{
    return c->schedule == SCHEDULE_COSINE ? 0.5 * (1.0 + cos(M_PI * x)) : 1.0 - x;
}

double schedule_lr(const struct train_config *c, int64_t step)
{
    int64_t warmup = schedule_warmup(c), flat = schedule_flat_until(c);
    if (step <= warmup)
        return c->lr * ((double)step / (double)warmup);
    if (c->schedule == SCHEDULE_CONSTANT || step <= flat)
        return c->lr;
    double up = height(c, (double)(step - flat) / (double)(c->steps - flat));
    return c->lr * (c->lr_min + (1.0 - c->lr_min) * up);
}

/* ---- tiles of all weights, which may begin and end inside a tensor ---- */

/* Elements [begin, end) of one weight, counted from the weight's own start. */
struct slice {
    int64_t begin, end;
};

/* The part of a trained weight inside elements [begin, end) of the block; false: no part. */
static bool slice_of(const struct weight *w, int64_t begin, int64_t end, struct slice *s)
{
    if (w->frozen || !w->grad.data)
        return false;
    int64_t n = tensor_count(&w->value);
    s->begin = begin > w->offset ? begin - w->offset : 0;
    s->end = end - w->offset < n ? end - w->offset : n;
    return s->begin < s->end;
}

/* ---- the norm ---- */

/* The block is cut into this many tiles, whatever its size, so their sums need no allocation. */
enum { NORM_TILES = 256 };

struct norm_job {
    const struct weights *weights;
    int64_t grain;
    double sum[NORM_TILES];
};

static void sum_range(void *ctx, int64_t begin, int64_t end)
{
    struct norm_job *job = ctx;
    const struct optimiser_rows *rows = optimiser_rows_of(job->weights->dtype);
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

/* ---- the update ---- */

enum { UPDATE_GRAIN = 16384 };

peat_status adamw_init(struct adamw *o, const struct weights *w, struct arena *arena)
{
    size_t bytes_each = dtype_bytes(w->dtype);
    *o = (struct adamw){.m = arena_try_array(arena, (size_t)w->trained, bytes_each),
                        .v = arena_try_array(arena, (size_t)w->trained, bytes_each)};
    return o->m && o->v ? PEAT_OK : PEAT_NOMEM;
}

struct job {
    const struct adamw *adamw;
    const struct weights *weights;
    struct update update;
    double weight_decay;
};

static void update_slice(const struct job *job, const struct weight *w, struct slice s)
{
    struct update u = job->update;
    u.decay = w->decay ? job->weight_decay : 0.0;
    const struct optimiser_rows *rows = optimiser_rows_of(job->weights->dtype);
    const size_t bytes = dtype_bytes(job->weights->dtype);
    const size_t in_weight = (size_t)s.begin * bytes,
                 in_all = (size_t)w->offset * bytes + in_weight;
    char *p = (char *)w->value.data + in_weight;
    rows->update(&u, s.end - s.begin, (const char *)w->grad.data + in_weight,
                 (char *)job->adamw->m + in_all, (char *)job->adamw->v + in_all, p);
    if (w->bounded)
        rows->bound(p, s.end - s.begin, w->lo, w->hi);
}

static void update_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *job = ctx;
    struct slice s;
    for (int i = 0; i < job->weights->n; i++)
        if (slice_of(job->weights->item[i], begin, end, &s))
            update_slice(job, job->weights->item[i], s);
}

void adamw_step(struct adamw *o, struct weights *w, const struct train_config *c, double lr,
                double grad_scale, const struct team *team)
{
    o->t++;
    struct job job = {
        .adamw = o,
        .weights = w,
        .update = {.grad_scale = grad_scale,
                   .beta1 = c->beta1,
                   .beta2 = c->beta2,
                   .m_scale = 1.0 / (1.0 - pow(c->beta1, (double)o->t)),
                   .v_scale = 1.0 / (1.0 - pow(c->beta2, (double)o->t)),
                   .eps = c->eps,
                   .lr = lr},
        .weight_decay = c->weight_decay,
    };
    parallel_ranges(team, w->trained, UPDATE_GRAIN, update_range, &job);
}
