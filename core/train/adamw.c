/* SPDX-License-Identifier: MIT */
/* adamw.c: one update of all weights, in one pass over values, gradients and moments. */
#include <math.h>

#include "rows/adamw_rows.h"
#include "slice.h"
#include "train/trainer.h"

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
    const struct adamw_rows *rows = adamw_rows_of(job->weights->dtype);
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
