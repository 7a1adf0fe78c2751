/* SPDX-License-Identifier: MIT */
/* knockout.c: the variance of tokens and positions in each dimension, and the loss without it. */

#include "diagnose/support.h"
#include "rounded.h"
#include "tables.h"

enum { BLOCKS = 8, LOSS_BATCHES = 2 };

struct block_loss {
    int64_t begin, end;
    double nll[2]; /* without dimensions of the token's part, and of the position's part */
};

/* Sums over batches; the loss is nll / targets. */
struct knockout {
    struct subject *s;
    double nll;
    int64_t targets;
    struct block_loss block[BLOCKS];
    double without[2]; /* the whole stream */
    int n_block;
};

/* Adds the loss of b without dimensions [begin, end) of x (x NULL: all of them) to *nll. */
static void loss_without(struct subject *s, const peat_batch *b, const double *x, int64_t begin,
                         int64_t end, double *nll, int64_t *targets)
{
    int64_t D = s->model->dims.D, rows = b->B * b->T;
    struct trace t;
    struct arena_mark mark = arena_mark(&s->work);
    double *minus = ARENA_ARRAY(&s->work, rows * D, double);
    for (int64_t i = 0; x && i < rows; i++)
        memcpy(minus + i * D + begin, x + i * D + begin, (size_t)(end - begin) * sizeof(*x));
    if (trace_run(&t, s, b, &(struct trace_options){.minus = minus}))
        trace_loss(&t, b, nll, targets);
    trace_end(&t);
    arena_rewind(&s->work, mark);
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct knockout *k = ctx;
    struct parts input, block;
    int64_t same = 0;
    if (!parts_find(k->s, b, &input, &block))
        return;
    loss_without(k->s, b, NULL, 0, 0, &k->nll, &k->targets);
    for (int p = 0; p < 2; p++) {
        const double *x = input.x[p == 0 ? PART_TOKEN : PART_POSITION];
        loss_without(k->s, b, x, 0, input.D, &k->without[p], &same);
        for (int i = 0; i < k->n_block; i++)
            loss_without(k->s, b, x, k->block[i].begin, k->block[i].end, &k->block[i].nll[p],
                         &same);
    }
}

static void measure(struct knockout *k)
{
    int64_t D = k->s->model->dims.D;
    k->n_block = D < BLOCKS ? (int)D : BLOCKS;
    for (int i = 0; i < k->n_block; i++) {
        k->block[i].begin = D * i / k->n_block;
        k->block[i].end = D * (i + 1) / k->n_block;
    }
    subject_each(k->s, LOSS_BATCHES, add_batch, k);
}

static double mean_loss(const struct knockout *k, double nll)
{
    return k->targets > 0 ? nll / (double)k->targets : (double)NAN;
}

static void put_losses(const struct knockout *k, struct json v)
{
    double loss = mean_loss(k, k->nll);
    put_rounded(v, "loss", loss);
    struct json whole = json_put_map(v, "whole");
    put_rounded(whole, "token", mean_loss(k, k->without[0]) - loss);
    put_rounded(whole, "position", mean_loss(k, k->without[1]) - loss);
    struct json blocks = json_put_list(v, "blocks");
    for (int i = 0; i < k->n_block; i++) {
        struct json one = json_add_map(blocks);
        json_put_int(one, "begin", k->block[i].begin);
        json_put_int(one, "end", k->block[i].end);
        put_rounded(one, "token", mean_loss(k, k->block[i].nll[0]) - loss);
        put_rounded(one, "position", mean_loss(k, k->block[i].nll[1]) - loss);
    }
}

static void put_support(const struct support *x, struct json v)
{
    put_rounded(v, "disjoint", x->disjoint);
    put_rounded(v, "disjoint_by_chance", 1.0 - x->by_chance);
    put_rounded(v, "correlation", x->correlation);
    json_put_int(v, "token_dimensions", x->token_dimensions);
    json_put_int(v, "position_dimensions", x->position_dimensions);
}

static void summarise(const struct knockout *k, const struct support *x, struct json v)
{
    double loss = mean_loss(k, k->nll);
    if (isnan(x->disjoint))
        put_summary(v, "one of the two does not vary, so there is no index");
    else
        put_summary(v,
                    "disjoint-support index %.2f (%.2f by chance)%s; without positions at the "
                    "input the loss changes by %+.3g nats, without tokens by %+.3g",
                    x->disjoint, 1.0 - x->by_chance,
                    x->disjoint > 0.999 ? ": no dimension carries both" : "",
                    mean_loss(k, k->without[1]) - loss, mean_loss(k, k->without[0]) - loss);
}

/* Variances [D] of the two tables, and numbers computed from them. */
struct profiles {
    double *token, *position;
    struct support support;
};

static bool find_profiles(struct subject *s, const struct tables *t, struct profiles *p)
{
    int64_t D = s->model->dims.D;
    p->token = ARENA_ARRAY(&s->arena, D, double);
    p->position = ARENA_ARRAY(&s->arena, D, double);
    column_variances(&t->token, p->token);
    column_variances(&t->position, p->position);
    return support_find(&p->support, p->token, p->position, D, &s->arena, &s->err) == PEAT_OK;
}

void diagnose_support(struct subject *s, struct json v)
{
    struct profiles p, start;
    struct knockout k = {.s = s};
    const struct tables *t = tables_or_skip(s, v);
    if (!t || !find_profiles(s, t, &p))
        return;
    measure(&k);
    summarise(&k, &p.support, v);
    put_support(&p.support, v);
    put_rounded_row(v, "token_variance", p.token, s->model->dims.D);
    put_rounded_row(v, "position_variance", p.position, s->model->dims.D);
    put_losses(&k, v);
    if (s->start && !s->start->missing && find_profiles(s, s->start, &start))
        put_support(&start.support, json_put_map(v, "start"));
}
