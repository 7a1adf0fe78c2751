/* SPDX-License-Identifier: MIT */
/* knockout.c: the stream that each dimension carries, and the loss without it. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "diagnose/diagnostics.h"
#include "diagnose/support.h"
#include "rounded.h"
#include "tables.h"

enum { BLOCKS = 8, LOSS_BATCHES = 2 };

struct block_loss {
    int64_t begin, end;
    double nll[2]; /* without the token's, without the position's dimensions */
};

/* Sums over batches; a loss is nll / targets. */
struct knockout {
    struct subject *s;
    double nll;
    int64_t targets;
    struct block_loss block[BLOCKS];
    double without[2]; /* the whole stream */
    int n_block;
};

/* The loss of b without what x holds in dimensions [begin, end). */
static peat_status loss_without(struct subject *s, const peat_batch *b, const double *x,
                                int64_t begin, int64_t end, double *nll, struct error *err)
{
    int64_t D = s->model->dims.D, rows = b->B * b->T, targets = 0;
    struct trace t;
    struct arena_mark mark = arena_mark(&s->work);
    double *minus = ARENA_ARRAY(&s->work, rows * D, double);
    for (int64_t i = 0; x && i < rows; i++)
        memcpy(minus + i * D + begin, x + i * D + begin, (size_t)(end - begin) * sizeof(*x));
    const struct trace_options o = {.keep = KEEP_ALL, .minus = minus};
    peat_status status = trace_run(&t, s, b, &o, err);
    if (status == PEAT_OK)
        trace_loss(&t, b, nll, &targets);
    trace_end(&t);
    arena_rewind(&s->work, mark);
    return status;
}

static peat_status add_batch(struct knockout *k, const peat_batch *b, struct error *err)
{
    struct parts input, block;
    struct trace t;
    const struct trace_options all = {.keep = KEEP_ALL};
    peat_status status = parts_find(k->s, b, &input, &block, err);
    if (status != PEAT_OK)
        return status;
    status = trace_run(&t, k->s, b, &all, err);
    if (status == PEAT_OK)
        trace_loss(&t, b, &k->nll, &k->targets);
    trace_end(&t);
    for (int p = 0; p < 2 && status == PEAT_OK; p++) {
        const double *x = input.x[p == 0 ? PART_TOKEN : PART_POSITION];
        status = loss_without(k->s, b, x, 0, input.D, &k->without[p], err);
        for (int i = 0; i < k->n_block && status == PEAT_OK; i++)
            status = loss_without(k->s, b, x, k->block[i].begin, k->block[i].end,
                                  &k->block[i].nll[p], err);
    }
    return status;
}

static peat_status measure(struct knockout *k, struct error *err)
{
    int64_t D = k->s->model->dims.D;
    k->n_block = (int)at_most(D, BLOCKS);
    for (int i = 0; i < k->n_block; i++) {
        k->block[i].begin = D * i / k->n_block;
        k->block[i].end = D * (i + 1) / k->n_block;
    }
    for (int i = 0; i < k->s->n_batch && i < LOSS_BATCHES; i++) {
        struct arena_mark mark = arena_mark(&k->s->work);
        peat_status status = add_batch(k, &k->s->batch[i], err);
        arena_rewind(&k->s->work, mark);
        if (status != PEAT_OK)
            return status;
    }
    return PEAT_OK;
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

/* The profiles of these tables: variances [D] of the two, and what follows from them. */
static peat_status find_profiles(struct subject *s, const struct tables *t, double *token,
                                 double *position, struct support *x, struct error *err)
{
    column_variances(&t->token, token);
    column_variances(&t->position, position);
    return support_find(x, token, position, s->model->dims.D, &s->arena, err);
}

/* Before training. */
static peat_status put_start(struct subject *s, struct json v, struct error *err)
{
    struct support x;
    int64_t D = s->model->dims.D;
    double *token = ARENA_ARRAY(&s->arena, D, double),
           *position = ARENA_ARRAY(&s->arena, D, double);
    peat_status status = find_profiles(s, s->start, token, position, &x, err);
    if (status == PEAT_OK)
        put_support(&x, json_put_map(v, "start"));
    return status;
}

peat_status diagnose_support(struct subject *s, struct json v, struct error *err)
{
    struct tables t;
    struct support x;
    struct knockout k = {.s = s};
    struct arena *a = &s->arena;
    int64_t D = s->model->dims.D;
    double *token = ARENA_ARRAY(a, D, double), *position = ARENA_ARRAY(a, D, double);
    peat_status status = tables_find(s, &t, err);
    if (status != PEAT_OK)
        return status;
    if (t.missing) {
        json_put_text(v, "skipped", t.missing);
        return PEAT_OK;
    }
    status = find_profiles(s, &t, token, position, &x, err);
    if (status == PEAT_OK)
        status = measure(&k, err);
    if (status != PEAT_OK)
        return status;
    summarise(&k, &x, v);
    put_support(&x, v);
    put_rounded_row(v, "token_variance", token, D);
    put_rounded_row(v, "position_variance", position, D);
    put_losses(&k, v);
    return s->start && !s->start->missing ? put_start(s, v, err) : PEAT_OK;
}
