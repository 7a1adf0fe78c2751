/* SPDX-License-Identifier: MIT */
/* support.c: the variance of tokens and positions in each dimension, and the loss without it. */
#include "diagnose/support.h"

#include "maths/statistics.h"
#include "rounded.h"
#include "tables.h"

/* Processes a few columns at a time, in the order of memory. Sums of equal F32 values are exact, so
 * a constant column has variance 0. */
void column_variances(const struct matrix *m, double *variance)
{
    enum { LANES = 16 };
    for (int64_t from = 0; from < m->columns; from += LANES) {
        int64_t n = m->columns - from < LANES ? m->columns - from : LANES;
        double mean[LANES] = {0}, sum[LANES] = {0};
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < n; j++)
                mean[j] += (double)m->x[i * m->columns + from + j];
        for (int64_t j = 0; j < n; j++)
            mean[j] /= (double)m->rows;
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < n; j++) {
                double off = (double)m->x[i * m->columns + from + j] - mean[j];
                sum[j] += off * off;
            }
        for (int64_t j = 0; j < n; j++)
            variance[from + j] = sum[j] / (double)m->rows;
    }
}

static double *sorted_copy(const double *x, int64_t n, struct arena *a)
{
    double *sorted = ARENA_ARRAY(a, n, double);
    memcpy(sorted, x, (size_t)n * sizeof(*x));
    sort_reals(sorted, n);
    return sorted;
}

static int64_t count_largest(const double *sorted, int64_t n, double sum)
{
    int64_t count = 0;
    double held = 0.0;
    while (count < n && held < 0.99 * sum)
        held += sorted[n - 1 - count++];
    return count;
}

/* Computes sum over all j, k of min(u_j, v_k) / d: for each value, the sum of the other profile's
 * smaller values plus itself times the number of larger ones. */
static double overlap_by_chance(const double *u, const double *v, int64_t d, double u_sum,
                                double v_sum)
{
    double total = 0.0, below = 0.0;
    int64_t k = 0;
    for (int64_t j = 0; j < d; j++) {
        double value = u[j] / u_sum;
        for (; k < d && v[k] / v_sum < value; k++)
            below += v[k] / v_sum;
        total += below + (double)(d - k) * value;
    }
    return total / (double)d;
}

static double pearson(const double *x, const double *y, int64_t n)
{
    double x_mean = stats_mean(x, n), y_mean = stats_mean(y, n);
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        yy += (y[i] - y_mean) * (y[i] - y_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : (double)NAN;
}

static void find_overlap(struct support *s, const double *token, const double *position, int64_t d)
{
    double t = s->token_variance, p = s->position_variance, profile = 0.0, plain = 0.0;
    for (int64_t j = 0; j < d; j++) {
        profile += fmin(token[j] / t, position[j] / p);
        plain += fmin(token[j], position[j]);
    }
    s->overlap = fmin(profile, 1.0);
    s->disjoint = 1.0 - s->overlap;
    s->shared = plain / fmin(t, p);
}

peat_status support_find(struct support *s, const double *token, const double *position, int64_t d,
                         struct arena *a, struct error *err)
{
    const double nan = (double)NAN;
    *s = (struct support){.overlap = nan, .disjoint = nan, .by_chance = nan, .shared = nan};
    for (int64_t j = 0; j < d; j++)
        if (!isfinite(token[j]) || !isfinite(position[j]))
            return error_set(err, PEAT_FAILED, "the variance of dimension %lld is not finite",
                             (long long)j);
    struct arena_mark mark = arena_mark(a);
    const double *t = sorted_copy(token, d, a), *p = sorted_copy(position, d, a);
    double *t_rank = ARENA_ARRAY(a, d, double), *p_rank = ARENA_ARRAY(a, d, double);
    mean_ranks(token, d, t_rank);
    mean_ranks(position, d, p_rank);
    s->token_variance = stats_sum(token, d);
    s->position_variance = stats_sum(position, d);
    s->correlation = pearson(t_rank, p_rank, d);
    s->token_dimensions = count_largest(t, d, s->token_variance);
    s->position_dimensions = count_largest(p, d, s->position_variance);
    if (s->token_variance > 0.0 && s->position_variance > 0.0) {
        find_overlap(s, token, position, d);
        s->by_chance = overlap_by_chance(t, p, d, s->token_variance, s->position_variance);
    }
    arena_rewind(a, mark);
    return PEAT_OK;
}

/* ---- the loss without dimensions ---- */

enum { BLOCKS = 8, LOSS_BATCHES = 2 };

/* Sums over batches; the loss is nll / targets. Those without dimensions are first without the
 * token's part in them, and then without the position's. */
struct knockout {
    struct subject *s;
    double nll;
    int64_t targets;
    double without[2]; /* all dimensions */
    int n_block;
    struct {
        int64_t begin, end;
        double nll[2];
    } block[BLOCKS];
};

/* Adds the loss of b without dimensions [begin, end) of x to *nll. */
static void loss_without(struct subject *s, const peat_batch *b, const double *x, int64_t begin,
                         int64_t end, double *nll)
{
    int64_t D = s->model->dims.D, rows = b->B * b->T, targets = 0;
    struct arena_mark mark = arena_mark(&s->work);
    double *minus = ARENA_ARRAY(&s->work, rows * D, double);
    for (int64_t i = 0; i < rows; i++)
        memcpy(minus + i * D + begin, x + i * D + begin, (size_t)(end - begin) * sizeof(*x));
    trace_loss(s, b, minus, nll, &targets);
    arena_rewind(&s->work, mark);
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct knockout *k = ctx;
    struct parts input, block;
    if (!parts_find(k->s, b, &input, &block))
        return;
    trace_loss(k->s, b, NULL, &k->nll, &k->targets);
    for (int p = 0; p < 2; p++) {
        const double *x = input.x[p == 0 ? PART_TOKEN : PART_POSITION];
        loss_without(k->s, b, x, 0, input.D, &k->without[p]);
        for (int i = 0; i < k->n_block; i++)
            loss_without(k->s, b, x, k->block[i].begin, k->block[i].end, &k->block[i].nll[p]);
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

static void put_changes(const struct knockout *k, const double nll[2], struct json v)
{
    put_rounded(v, "token", mean_loss(k, nll[0]) - mean_loss(k, k->nll));
    put_rounded(v, "position", mean_loss(k, nll[1]) - mean_loss(k, k->nll));
}

static void put_losses(const struct knockout *k, struct json v)
{
    put_rounded(v, "loss", mean_loss(k, k->nll));
    put_changes(k, k->without, json_put_map(v, "whole"));
    struct json blocks = json_put_list(v, "blocks");
    for (int i = 0; i < k->n_block; i++) {
        struct json one = json_add_map(blocks);
        json_put_int(one, "begin", k->block[i].begin);
        json_put_int(one, "end", k->block[i].end);
        put_changes(k, k->block[i].nll, one);
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

/* Sets variance [2][D]: of tokens, and of positions. */
static bool find_support(struct subject *s, const struct tables *t, double *variance[2],
                         struct support *x)
{
    int64_t D = s->model->dims.D;
    const struct matrix *of[] = {&t->token, &t->position};
    for (int i = 0; i < 2; i++) {
        variance[i] = ARENA_ARRAY(&s->arena, D, double);
        column_variances(of[i], variance[i]);
    }
    return support_find(x, variance[0], variance[1], D, &s->arena, &s->err) == PEAT_OK;
}

void diagnose_support(struct subject *s, struct json v)
{
    struct support x;
    struct knockout k = {.s = s};
    double *variance[2];
    const struct tables *t = tables_or_skip(s, v);
    if (!t || !find_support(s, t, variance, &x))
        return;
    measure(&k);
    summarise(&k, &x, v);
    put_support(&x, v);
    put_rounded_row(v, "token_variance", variance[0], s->model->dims.D);
    put_rounded_row(v, "position_variance", variance[1], s->model->dims.D);
    put_losses(&k, v);
    if (s->start && !s->start->missing && find_support(s, s->start, variance, &x))
        put_support(&x, json_put_map(v, "start"));
}
