/* SPDX-License-Identifier: MIT */
/*
 * logit_terms.c: logit(i, j) = sum over (a, b) of scale q_a(i).k_b(j), plus the bias, because q is
 * the sum of q_a and k the sum of k_b. For tokens and positions these are Ke et al. 2021's terms.
 */

#include "diagnose/parts.h"
#include "maths/spectrum.h"
#include "rounded.h"

enum { BIAS_TERM = PARTS * PARTS, TERMS };

/* Sums of one head over all batches. Terms are centred over the keys that their query sees, because
 * softmax ignores a constant of a row. */
struct head_sums {
    double square[TERMS]; /* sum of term^2         */
    double cross[TERMS];  /* sum of term * logit   */
    double logit;         /* sum of logit^2        */
    double pairs;         /* pairs of a query and a key that it sees */
    const char *changed_by;
};

struct layer_sums {
    bool done;
    double error; /* largest over groups and batches */
    struct head_sums *head;
};

struct logit_work {
    struct subject *s;
    struct layer_sums *layer;
    bool part[PARTS];
    bool bent; /* the input is not linear in its streams */
    const char *stopped;
};

/* One batch row of one head. */
struct square {
    int64_t T;
    double *term[TERMS]; /* [T,T]; NULL: no such term */
    double *logit;
    const double *mask; /* [T,T], 1 where a key is seen */
};

static void add_sums(const struct square *q, struct head_sums *h)
{
    int64_t n = q->T * q->T;
    memset(q->logit, 0, (size_t)n * sizeof(double));
    for (int t = 0; t < TERMS; t++) {
        if (!q->term[t])
            continue;
        centre_seen(q->term[t], q->mask, q->T);
        for (int64_t i = 0; i < n; i++)
            q->logit[i] += q->term[t][i];
    }
    for (int64_t i = 0; i < n; i++) {
        h->logit += q->logit[i] * q->logit[i];
        h->pairs += q->mask[i] != 0.0;
    }
    for (int t = 0; t < TERMS; t++)
        for (int64_t i = 0; q->term[t] && i < n; i++) {
            h->square[t] += q->term[t][i] * q->term[t][i];
            h->cross[t] += q->term[t][i] * q->logit[i];
        }
}

/* bias + scale * score_add; NULL when the group has neither. */
static double *whole_bias(const struct attention_seen *seen, const int64_t *dim, struct arena *a)
{
    int64_t n = dim[0] * dim[1] * dim[2] * dim[3];
    double *bias = seen->bias ? node_spread(seen->bias, 4, dim, a) : NULL;
    if (!seen->score_add)
        return bias;
    double *sum = node_spread(seen->score_add, 4, dim, a);
    for (int64_t i = 0; i < n; i++)
        sum[i] = sum[i] * seen->scale + (bias ? bias[i] : 0.0);
    return sum;
}

static void add_group(struct logit_work *w, const struct trace *t, const struct group_parts *g,
                      struct layer_sums *sums)
{
    struct arena *a = &w->s->work;
    int64_t B = t->in.B, T = t->in.T, TT = T * T;
    const int64_t dim[] = {B, g->H, T, T};
    double *room = ARENA_ARRAY(a, (TERMS + 1) * TT, double);
    const double *mask = node_spread(t->keys, 4, (int64_t[]){B, 1, T, T}, a);
    const double *bias = whole_bias(g->seen, dim, a);
    for (int64_t b = 0; b < B; b++)
        for (int64_t h = 0; h < g->H; h++) {
            int64_t at = b * g->H + h;
            struct square q = {.T = T, .logit = room + TERMS * TT, .mask = mask + b * TT};
            for (int i = 0; i < BIAS_TERM; i++) {
                const double *query = g->x[OF_QUERY][i / PARTS], *key = g->x[OF_KEY][i % PARTS];
                if (!query || !key)
                    continue;
                q.term[i] = room + i * TT;
                row_products(w->s->team, query + at * T * g->C, T, key + at * T * g->C, T, g->C,
                             g->seen->scale, q.term[i], T);
            }
            if (bias)
                q.term[BIAS_TERM] =
                    memcpy(room + BIAS_TERM * TT, bias + at * TT, (size_t)TT * sizeof(double));
            add_sums(&q, &sums->head[g->seen->begin + h]);
        }
}

/* Why the layer's queries and keys cannot be decomposed; NULL: they can be. */
static const char *find_bend(const struct logit_work *w, int64_t layer, const struct group_parts *g,
                             int n)
{
    if (w->s->model->config.qk_norm)
        return "model.qk_norm makes queries and keys that are not linear in the streams";
    for (int i = 0; i < n; i++)
        if (g[i].error > PARTS_ROUNDING)
            return arena_printf(&w->s->arena,
                                "layer %lld: queries and keys are not linear in the streams",
                                (long long)layer);
    return NULL;
}

static void add_layer(struct logit_work *w, const struct trace *t, struct layer_sums *sums,
                      const struct group_parts *g, int n)
{
    for (int i = 0; i < n; i++) {
        sums->error = fmax(sums->error, g[i].error);
        for (int64_t h = g[i].seen->begin; h < g[i].seen->end; h++)
            sums->head[h].changed_by = g[i].seen->changed_by;
        add_group(w, t, &g[i], sums);
    }
}

/* Whether the parts can be followed into the next layer; if not, w->stopped may have the reason. */
static bool follow_layer(struct logit_work *w, struct trace *t, int64_t layer, struct parts *x)
{
    int n;
    struct group_parts *g = parts_project(t, layer, x, &n);
    if (!g)
        return false;
    const char *why = find_bend(w, layer, g, n);
    w->layer[layer].done = !why;
    if (!why) {
        add_layer(w, t, &w->layer[layer], g, n);
        if (layer + 1 == w->s->model->dims.L)
            return false;
        why = parts_obstacle(w->s->model, layer, &w->s->arena);
    }
    if (why)
        w->stopped = why;
    else
        parts_advance(t, layer, x, g, n);
    return !why;
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct logit_work *w = ctx;
    struct parts input, block;
    struct trace t;
    const struct trace_options o = {.attention = true};
    if (w->bent || !parts_find(w->s, b, &input, &block))
        return;
    w->bent = !parts_are_linear(&block);
    if (w->bent)
        return;
    for (int p = 0; p < PARTS; p++)
        w->part[p] = block.x[p] != NULL;
    bool more = trace_run(&t, w->s, b, &o);
    for (int64_t layer = 0; more; layer++) {
        struct arena_mark mark = arena_mark(&w->s->work);
        more = follow_layer(w, &t, layer, &block);
        arena_rewind(&w->s->work, mark);
    }
    trace_end(&t);
}

/* ---- the tree ---- */

static const char *term_name(struct arena *a, int t)
{
    return t == BIAS_TERM ? "bias"
                          : arena_printf(a, "%s.%s", part_name[t / PARTS], part_name[t % PARTS]);
}

static bool term_exists(const struct logit_work *w, int t)
{
    return t == BIAS_TERM || (w->part[t / PARTS] && w->part[t % PARTS]);
}

static double all_squares(const struct head_sums *h)
{
    double sum = 0.0;
    for (int t = 0; t < TERMS; t++)
        sum += h->square[t];
    return sum;
}

static void add_head(const struct logit_work *w, const struct head_sums *h, int64_t head,
                     struct json heads)
{
    struct json v = json_add_map(heads);
    json_put_int(v, "head", head);
    put_rounded(v, "variance", ratio(h->logit, h->pairs));
    json_put_text(v, "changed_by", h->changed_by);
    struct json share = json_put_map(v, "share"), cross = json_put_map(v, "covariance");
    for (int t = 0; t < TERMS; t++) {
        if (!term_exists(w, t))
            continue;
        put_rounded(share, term_name(v.a, t), ratio(h->square[t], all_squares(h)));
        put_rounded(cross, term_name(v.a, t), ratio(h->cross[t], h->logit));
    }
}

/* The mean of the shares over heads that have any variance. */
static double mean_share(const struct layer_sums *l, int64_t H, int t)
{
    double sum = 0.0;
    int64_t n = 0;
    for (int64_t h = 0; h < H; h++) {
        double all = all_squares(&l->head[h]);
        sum += all > 0.0 ? l->head[h].square[t] / all : 0.0;
        n += all > 0.0;
    }
    return ratio(sum, (double)n);
}

static void add_layer_value(const struct logit_work *w, int64_t layer, struct json layers)
{
    const struct layer_sums *l = &w->layer[layer];
    struct json v = json_add_map(layers);
    int64_t H = w->s->model->dims.H;
    json_put_int(v, "layer", layer);
    json_put_bool(v, "exact", layer == 0);
    put_rounded(v, "error", l->error);
    struct json share = json_put_map(v, "share"), heads = json_put_list(v, "heads");
    for (int t = 0; t < TERMS; t++)
        if (term_exists(w, t))
            put_rounded(share, term_name(v.a, t), mean_share(l, H, t));
    for (int64_t h = 0; h < H; h++)
        add_head(w, &l->head[h], h, heads);
}

static void summarise(const struct logit_work *w, struct json v)
{
    const struct layer_sums *l = &w->layer[0];
    int64_t H = w->s->model->dims.H;
    double tt = mean_share(l, H, PART_TOKEN * PARTS + PART_TOKEN);
    double bias = mean_share(l, H, BIAS_TERM);
    if (w->part[PART_POSITION])
        put_summary(v,
                    "layer 0: %.0f %% of the terms' variance is token-token, %.0f %% "
                    "token-position and position-token, %.0f %% position-position, %.0f %% bias",
                    100 * tt,
                    100 * (mean_share(l, H, PART_TOKEN * PARTS + PART_POSITION) +
                           mean_share(l, H, PART_POSITION * PARTS + PART_TOKEN)),
                    100 * mean_share(l, H, PART_POSITION * PARTS + PART_POSITION), 100 * bias);
    else
        put_summary(v,
                    "no position at the input; layer 0: %.0f %% of the terms' variance is "
                    "token-token, %.0f %% bias",
                    100 * tt, 100 * bias);
}

static void put_logits(const struct logit_work *w, struct json v)
{
    summarise(w, v);
    struct json streams = json_put_list(v, "streams"), layers = json_put_list(v, "layers");
    for (int p = 0; p < PARTS; p++)
        if (w->part[p])
            json_add_text(streams, part_name[p]);
    for (int64_t l = 0; l < w->s->model->dims.L && w->layer[l].done; l++)
        add_layer_value(w, l, layers);
    json_put_text(v, "stopped", w->stopped);
}

static void make_sums(struct logit_work *w)
{
    const peat_dims *d = &w->s->model->dims;
    w->layer = ARENA_ARRAY(&w->s->arena, d->L, struct layer_sums);
    for (int64_t l = 0; l < d->L; l++)
        w->layer[l].head = ARENA_ARRAY(&w->s->arena, d->H, struct head_sums);
}

void diagnose_logits(struct subject *s, struct json v)
{
    struct logit_work w = {.s = s};
    make_sums(&w);
    subject_each(s, s->n_batch, add_batch, &w);
    if (!w.bent && w.layer[0].done)
        put_logits(&w, v);
    else
        json_put_text(v, "skipped",
                      w.bent ? "not linear, not decomposed: the input is not a sum of what each "
                               "stream brings"
                             : w.stopped);
}
