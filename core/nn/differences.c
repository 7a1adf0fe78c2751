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

struct range {
    double min, max;
};

/* Widens the range by the positions of a side; false: some are not whole numbers. */
static bool whole(const peat_side *s, struct range *r)
{
    for (int64_t i = 0; i < s->pos_B * s->T; i++) {
        double p = s->pos[i];
        if (p != (double)(int64_t)p)
            return false;
        r->min = p < r->min ? p : r->min;
        r->max = p > r->max ? p : r->max;
    }
    return true;
}

/* Position t of row b on an axis. */
static double position(const peat_side *s, int32_t axis, int64_t b, int64_t t)
{
    return s->pos[(axis * s->pos_B + (s->pos_B == 1 ? 0 : b)) * s->T + t];
}

/* delta[j - i + Tq - 1] = k[j] - q[i] */
static bool list_toeplitz(struct differences *d, struct arena *a, const peat_side *q,
                          const peat_side *k)
{
    int64_t n = d->Tq + d->Tk - 1;
    double *delta = ARENA_TRY_ARRAY(a, n, double);
    for (int64_t m = 0; delta && m < n; m++)
        delta[m] = k->pos[0] - q->pos[0] + (double)(m - (d->Tq - 1));
    d->toeplitz = true;
    d->rel = (peat_rel){sizeof(d->rel), n, 1, delta};
    return delta != NULL;
}

/* delta = -reach .. reach; index[b, i, j] = k[b, j] - q[b, i] + reach */
static bool list_whole(struct differences *d, struct graph *g, const peat_side *q,
                       const peat_side *k, int64_t reach)
{
    int64_t n = 2 * reach + 1;
    double *delta = ARENA_TRY_ARRAY(g->arena, n, double);
    int32_t *index = ARENA_TRY_ARRAY(g->arena, d->pos_B * d->Tq * d->Tk, int32_t), *next = index;
    if (!delta || !index)
        return false;
    for (int64_t m = 0; m < n; m++)
        delta[m] = (double)(m - reach);
    for (int64_t b = 0; b < d->pos_B; b++)
        for (int64_t i = 0; i < d->Tq; i++)
            for (int64_t j = 0; j < d->Tk; j++)
                *next++ = (int32_t)(position(k, 0, b, j) - position(q, 0, b, i) + (double)reach);
    d->rel = (peat_rel){sizeof(d->rel), n, 1, delta};
    d->index = graph_constant(g, PEAT_I32, 3, (int64_t[]){d->pos_B, 1, d->Tq * d->Tk}, index);
    return d->index != NULL;
}

static bool list_pairs(struct differences *d, struct arena *a, const peat_side *q,
                       const peat_side *k)
{
    int64_t n = d->pos_B * d->Tq * d->Tk;
    double *delta = ARENA_TRY_ARRAY(a, q->n_axes * n, double), *next = delta;
    for (int32_t axis = 0; delta && axis < q->n_axes; axis++)
        for (int64_t b = 0; b < d->pos_B; b++)
            for (int64_t i = 0; i < d->Tq; i++)
                for (int64_t j = 0; j < d->Tk; j++)
                    *next++ = position(k, axis, b, j) - position(q, axis, b, i);
    d->rel = (peat_rel){sizeof(d->rel), n, q->n_axes, delta};
    return delta != NULL;
}

static bool list(struct differences *d, struct graph *g, const peat_side *q, const peat_side *k)
{
    enum { REACH_PER_TOKEN = 16 };
    struct range r = {q->pos[0], q->pos[0]};
    if (consecutive(q) && (k == q || consecutive(k)))
        return list_toeplitz(d, g->arena, q, k);
    int64_t T = d->Tq > d->Tk ? d->Tq : d->Tk;
    if (q->n_axes == 1 && whole(q, &r) && (k == q || whole(k, &r)) &&
        r.max - r.min <= (double)(REACH_PER_TOKEN * T))
        return list_whole(d, g, q, k, (int64_t)(r.max - r.min));
    return list_pairs(d, g->arena, q, k);
}

struct differences *pass_differences(struct pass *pass, const peat_call *c)
{
    const peat_side *q = c->q, *k = c->k;
    struct own_positions *own = &pass->own[((const struct call *)c)->index]; /* base is first */
    struct differences **kept =
        own->n_axes > 0 ? &own->differences : &pass->differences[q->n_axes > 1];
    if (*kept)
        return *kept;
    struct differences *d = ARENA_NEW(pass->g->arena, struct differences);
    *d = (struct differences){
        .pos_B = q->pos_B > k->pos_B ? q->pos_B : k->pos_B, .Tq = q->T, .Tk = k->T};
    if (!list(d, pass->g, q, k)) {
        graph_no_memory(pass->g, "position differences", 0);
        return NULL;
    }
    return *kept = d;
}

peat_node *differences_spread(struct pass *pass, const struct differences *d, peat_node *value)
{
    peat_graph *g = &pass->g->base;
    int64_t H = node_dim(value, 0);
    if (d->index) {
        /* [1|H, n] -> [1, 1|H, n], read at [pos_B, 1, Tq*Tk] -> [pos_B, 1|H, Tq*Tk] */
        value = op_reshape(g, value, 3, (int64_t[]){1, H, d->rel.n});
        value = op_take_last(g, value, d->index);
        return op_reshape(g, value, 4, (int64_t[]){d->pos_B, H, d->Tq, d->Tk});
    }
    /* [1|H, pos_B*Tq*Tk] -> [1|H, pos_B, Tq, Tk] -> [pos_B, 1|H, Tq, Tk] */
    value = op_reshape(g, value, 4, (int64_t[]){H, d->pos_B, d->Tq, d->Tk});
    return op_permute(g, value, 4, (int32_t[]){1, 0, 2, 3});
}
