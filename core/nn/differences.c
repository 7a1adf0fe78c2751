/* SPDX-License-Identifier: MIT */
/* differences.c: listing position differences and spreading values over them. */
#include "nn/differences.h"

#include "autograd/ops.h"

static bool consecutive(const peat_side *s)
{
    if (s->n_axes != 1 || s->pos_B != 1)
        return false;
    for (int64_t t = 1; t < s->T; t++)
        if (s->pos[t] != s->pos[0] + (double)t)
            return false;
    return true;
}

/* Smallest and largest position when all are whole. */
static bool whole(const peat_side *s, double *min, double *max)
{
    *min = *max = s->pos[0];
    for (int64_t i = 0; i < s->pos_B * s->T; i++) {
        double p = s->pos[i];
        if (p != (double)(int64_t)p)
            return false;
        *min = p < *min ? p : *min;
        *max = p > *max ? p : *max;
    }
    return true;
}

static bool list_toeplitz(struct differences *d, struct arena *a, int64_t T)
{
    int64_t n = 2 * T - 1;
    double *delta = ARENA_TRY_ARRAY(a, n, double);
    for (int64_t m = 0; delta && m < n; m++)
        delta[m] = (double)(m - (T - 1));
    d->toeplitz = true;
    d->rel = (peat_rel){sizeof(d->rel), n, 1, delta};
    return delta != NULL;
}

/* delta = -reach .. reach; index[b, i, j] = pos[b, j] - pos[b, i] + reach */
static bool list_whole(struct differences *d, struct graph *g, const peat_side *s, int64_t reach)
{
    int64_t T = s->T, n = 2 * reach + 1;
    double *delta = ARENA_TRY_ARRAY(g->arena, n, double);
    int32_t *index = ARENA_TRY_ARRAY(g->arena, s->pos_B * T * T, int32_t);
    if (!delta || !index)
        return false;
    for (int64_t m = 0; m < n; m++)
        delta[m] = (double)(m - reach);
    for (int64_t b = 0; b < s->pos_B; b++)
        for (int64_t i = 0; i < T; i++)
            for (int64_t j = 0; j < T; j++)
                index[(b * T + i) * T + j] =
                    (int32_t)(s->pos[b * T + j] - s->pos[b * T + i] + (double)reach);
    d->rel = (peat_rel){sizeof(d->rel), n, 1, delta};
    d->index = graph_constant(g, PEAT_I32, 3, (int64_t[]){s->pos_B, 1, T * T}, index);
    return d->index != NULL;
}

static bool list_pairs(struct differences *d, struct arena *a, const peat_side *s)
{
    int64_t T = s->T, n = s->pos_B * T * T;
    double *delta = ARENA_TRY_ARRAY(a, s->n_axes * n, double);
    for (int32_t axis = 0; delta && axis < s->n_axes; axis++) {
        const double *pos = s->pos + axis * s->pos_B * T;
        for (int64_t b = 0; b < s->pos_B; b++)
            for (int64_t i = 0; i < T; i++)
                for (int64_t j = 0; j < T; j++)
                    delta[axis * n + (b * T + i) * T + j] = pos[b * T + j] - pos[b * T + i];
    }
    d->rel = (peat_rel){sizeof(d->rel), n, s->n_axes, delta};
    return delta != NULL;
}

struct differences *pass_differences(struct pass *pass)
{
    enum { REACH_PER_TOKEN = 16 };
    if (pass->differences)
        return pass->differences;
    struct graph *g = pass->g;
    const peat_side *s = &pass->side;
    struct differences *d = ARENA_NEW(g->arena, struct differences);
    double min, max;
    bool ok;
    if (consecutive(s))
        ok = list_toeplitz(d, g->arena, s->T);
    else if (s->n_axes == 1 && whole(s, &min, &max) &&
             max - min <= (double)(REACH_PER_TOKEN * s->T))
        ok = list_whole(d, g, s, (int64_t)(max - min));
    else
        ok = list_pairs(d, g->arena, s);
    if (!ok) {
        graph_no_memory(g, "position differences", 0);
        return NULL;
    }
    return pass->differences = d;
}

peat_node *differences_spread(struct pass *pass, const struct differences *d, peat_node *value)
{
    peat_graph *g = &pass->g->base;
    const peat_side *s = &pass->side;
    int64_t T = s->T, H = peat_shape_of(g, value).dim[0];
    if (d->index) {
        /* [1|H, n] -> [1, 1|H, n], taken at [pos_B, 1, T*T] -> [pos_B, 1|H, T*T] */
        value = op_reshape(g, value, 3, (int64_t[]){1, H, d->rel.n});
        value = op_take_last(g, value, d->index);
        return op_reshape(g, value, 4, (int64_t[]){s->pos_B, H, T, T});
    }
    /* [1|H, pos_B*T*T] -> [1|H, pos_B, T, T] -> [pos_B, 1|H, T, T] */
    value = op_reshape(g, value, 4, (int64_t[]){H, s->pos_B, T, T});
    return op_permute(g, value, 4, (int32_t[]){1, 0, 2, 3});
}
