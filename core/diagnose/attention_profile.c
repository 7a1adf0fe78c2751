/* SPDX-License-Identifier: MIT */
/* attention_profile.c: where each head attends, and how much of that its positions determine. */

#include "diagnose/trace.h"
#include "maths/spectrum.h"
#include "rounded.h"

enum { DISTANCES = 12 }; /* 0, 1, 2-3, 4-7, .. */

/* Sums over all windows for one head. Logits are centred over the keys that their query sees. */
struct head_profile {
    double queries;           /* queries that see a key                              */
    double weight[DISTANCES]; /* sums of the weights of keys at these distances      */
    double entropy, most;     /* sums of the entropy and of ln(keys seen)            */
    double distance, self, first;
    double square; /* sum of logit^2                                      */
    double bias_square, turn_square;
    double bias[DISTANCES], pairs[DISTANCES];
    double *sum, *count; /* [T,T]: sums of centred logits by query and key         */
    bool has_bias, turns;
    const char *changed_by;
};

struct profile {
    struct subject *s;
    int64_t T;
    int n_distance;
    struct head_profile *head; /* [L * H] */
    double uniform[DISTANCES], queries;
};

/* Dense arrays of one group of one batch, [B,H,T,T]; all except the weights are centred. */
struct scores {
    int64_t B, H, T;
    double *logits, *weights, *bias, *plain; /* bias, plain: NULL where the group has none;
                                              * plain: logits without the rotation */
    double *mask;                            /* [B,1,T,T] */
};

static int bin_of(int64_t distance)
{
    int bin = 0;
    for (int64_t d = distance < 0 ? -distance : distance; d > 0 && bin < DISTANCES - 1; d /= 2)
        bin++;
    return bin;
}

/* Adds query i, whose row of [B,H,T,T] begins at `at` and which sees n keys. */
static void add_query(struct head_profile *h, const struct scores *x, int64_t at,
                      const double *mask, int64_t i, double n)
{
    const double *w = x->weights + at;
    double first = (double)NAN;
    for (int64_t j = 0; j < x->T; j++) {
        if (mask[j] == 0.0)
            continue;
        double value = x->logits[at + j], bias = x->bias ? x->bias[at + j] : 0.0;
        double turn = x->plain ? value - bias - x->plain[at + j] : 0.0;
        int bin = bin_of(i - j);
        first = isnan(first) ? w[j] : first;
        h->weight[bin] += w[j];
        h->distance += w[j] * (double)llabs(i - j);
        h->self += i == j ? w[j] : 0.0;
        h->entropy -= w[j] > 0.0 ? w[j] * log(w[j]) : 0.0;
        h->square += value * value;
        h->sum[i * x->T + j] += value;
        h->count[i * x->T + j]++;
        h->pairs[bin]++;
        h->bias_square += bias * bias;
        h->bias[bin] += bias;
        h->turn_square += turn * turn;
    }
    h->first += first;
    h->most += log(n);
    h->queries++;
}

static void add_uniform(struct profile *p, const double *mask, int64_t i, double n)
{
    for (int64_t j = 0; j < p->T; j++)
        if (mask[j] != 0.0)
            p->uniform[bin_of(i - j)] += 1.0 / n;
    p->queries++;
}

static void add_head(struct profile *p, struct head_profile *h, const struct scores *x, int64_t b,
                     int64_t head, const uint8_t *pad, bool first)
{
    for (int64_t i = 0; i < x->T; i++) {
        const double *mask = x->mask + (b * x->T + i) * x->T;
        double n = 0.0;
        for (int64_t j = 0; j < x->T; j++)
            n += mask[j] != 0.0;
        if (n == 0.0 || (pad && pad[b * x->T + i]))
            continue;
        int64_t at = ((b * x->H + head) * x->T + i) * x->T;
        add_query(h, x, at, mask, i, n);
        if (first)
            add_uniform(p, mask, i, n);
    }
}

/* ---- one group of one batch ---- */

/* scale q k' of the queries and keys as projected: without rotation and bias. */
static double *plain_scores(const struct subject *s, const struct attention_seen *seen,
                            const struct scores *x, struct arena *a)
{
    int64_t T = x->T, C = seen->projected.q->value.dim[3];
    const double *q = node_copy(seen->projected.q, a), *k = node_copy(seen->projected.k, a);
    double *out = ARENA_ARRAY(a, x->B * x->H * T * T, double);
    for (int64_t i = 0; i < x->B * x->H; i++)
        row_products(s->team, q + i * T * C, T, k + i * T * C, T, C, seen->scale, out + i * T * T,
                     T);
    return out;
}

static bool turned(const struct attention_seen *seen)
{
    return seen->chain.q != seen->projected.q && !seen->changed_by && !seen->score_add &&
           seen->chain.q->value.dim[3] == seen->projected.q->value.dim[3];
}

static struct scores get_scores(const struct trace *t, const struct attention_seen *seen,
                                struct arena *a)
{
    const int64_t dim[] = {t->in.B, seen->end - seen->begin, t->in.T, t->in.T};
    struct scores x = {.B = dim[0], .H = dim[1], .T = dim[2]};
    x.logits = node_copy(seen->logits, a);
    x.weights = node_copy(seen->weights, a);
    x.mask = node_spread(t->keys, 4, (int64_t[]){dim[0], 1, dim[2], dim[2]}, a);
    x.bias = seen->bias ? node_spread(seen->bias, 4, dim, a) : NULL;
    x.plain = turned(seen) ? plain_scores(t->subject, seen, &x, a) : NULL;
    double *const term[] = {x.logits, x.bias, x.plain};
    for (int i = 0; i < 3; i++)
        for (int64_t h = 0; term[i] && h < x.B * x.H; h++)
            centre_seen(term[i] + h * x.T * x.T, x.mask + h / x.H * x.T * x.T, x.T);
    return x;
}

static void add_group(struct profile *p, const struct trace *t, const struct attention_seen *seen,
                      const peat_batch *b)
{
    struct scores x = get_scores(t, seen, &p->s->work);
    for (int64_t h = seen->begin; h < seen->end; h++) {
        struct head_profile *head = &p->head[seen->layer * p->s->model->dims.H + h];
        head->has_bias = head->has_bias || x.bias;
        head->turns = head->turns || x.plain;
        head->changed_by = seen->changed_by;
        for (int64_t row = 0; row < x.B; row++)
            add_head(p, head, &x, row, h - seen->begin, b->has_pad ? b->pad : NULL,
                     seen->layer == 0 && h == 0);
    }
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct profile *p = ctx;
    struct trace t;
    const struct trace_options o = {.attention = true};
    bool ran = trace_run(&t, p->s, b, &o);
    for (int i = 0; ran && i < t.n_seen; i++) {
        struct arena_mark mark = arena_mark(&p->s->work);
        add_group(p, &t, &t.seen[i], b);
        arena_rewind(&p->s->work, mark);
    }
    trace_end(&t);
}

/* ---- position and distance ---- */

/* The shares of the logits that query and key positions explain, and that i - j alone explains. */
struct explained {
    double position, distance;
};

/* One round of alternating least squares for M(i, j) = row(i) + f(j - i), each pair weighted by its
 * count. */
static void fit_round(const struct head_profile *h, int64_t T, double *row, double *f, double *n)
{
    for (int64_t i = 0; i < T; i++) {
        double sum = 0.0, all = 0.0;
        for (int64_t j = 0; j < T; j++) {
            sum += h->sum[i * T + j] - h->count[i * T + j] * f[j - i + T - 1];
            all += h->count[i * T + j];
        }
        row[i] = all > 0.0 ? sum / all : 0.0;
    }
    memset(f, 0, (size_t)(2 * T - 1) * sizeof(*f));
    memset(n, 0, (size_t)(2 * T - 1) * sizeof(*n));
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            f[j - i + T - 1] += h->sum[i * T + j] - h->count[i * T + j] * row[i];
            n[j - i + T - 1] += h->count[i * T + j];
        }
    for (int64_t d = 0; d < 2 * T - 1; d++)
        f[d] = n[d] > 0.0 ? f[d] / n[d] : 0.0;
}

/* sum logit^2 = sum count M^2 + rest, with M the mean logit of each pair of positions. */
static struct explained explain(const struct head_profile *h, int64_t T, struct arena *a)
{
    enum { ROUNDS = 100 };
    struct arena_mark mark = arena_mark(a);
    double *row = ARENA_ARRAY(a, T, double), *f = ARENA_ARRAY(a, 2 * T, double);
    double *n = ARENA_ARRAY(a, 2 * T, double), fixed = 0.0, left = 0.0;
    for (int i = 0; i < ROUNDS; i++)
        fit_round(h, T, row, f, n);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            double count = h->count[i * T + j];
            double M = count > 0.0 ? h->sum[i * T + j] / count : 0.0;
            double rest = M - row[i] - f[j - i + T - 1];
            fixed += count * M * M;
            left += count * rest * rest;
        }
    arena_rewind(a, mark);
    return (struct explained){ratio(fixed, h->square), ratio(fmax(0.0, fixed - left), h->square)};
}

/* ---- the tree ---- */

/* A share of `whole`, or of each of `one`. */
static void put_ratios(struct json map, const char *key, const double *part, const double *whole,
                       double one, int n)
{
    struct json list = json_put_list(map, key);
    for (int i = 0; i < n; i++)
        add_rounded(list, ratio(part[i], whole ? whole[i] : one));
}

static void add_head_value(struct profile *p, const struct head_profile *h, int64_t head,
                           struct json heads)
{
    struct explained e = explain(h, p->T, &p->s->work);
    struct json m = json_add_map(heads);
    json_put_int(m, "head", head);
    put_rounded(m, "entropy", ratio(h->entropy, h->queries));
    put_rounded(m, "entropy_share", ratio(h->entropy, h->most));
    put_rounded(m, "mean_distance", ratio(h->distance, h->queries));
    put_rounded(m, "self", ratio(h->self, h->queries));
    put_rounded(m, "first", ratio(h->first, h->queries));
    put_ratios(m, "by_distance", h->weight, NULL, h->queries, p->n_distance);
    put_rounded(m, "position_share", e.position);
    put_rounded(m, "distance_share", e.distance);
    put_rounded(m, "bias_share", h->has_bias ? ratio(h->bias_square, h->square) : (double)NAN);
    if (h->has_bias)
        put_ratios(m, "bias_by_distance", h->bias, h->pairs, 0.0, p->n_distance);
    else
        json_put(m, "bias_by_distance", NULL);
    put_rounded(m, "rotation_share", h->turns ? ratio(h->turn_square, h->square) : (double)NAN);
    json_put_text(m, "changed_by", h->changed_by);
}

static void put_distances(const struct profile *p, struct json v)
{
    struct json list = json_put_list(v, "distances");
    for (int i = 0; i < p->n_distance; i++) {
        int64_t low = i == 0 ? 0 : INT64_C(1) << (i - 1), high = i == 0 ? 0 : 2 * low - 1;
        struct json ends = json_list(v.a);
        if (high > p->T - 1 || i == DISTANCES - 1)
            high = p->T - 1;
        json_add_int(ends, low);
        json_add_int(ends, high);
        json_add(list, ends.v);
    }
}

static void summarise(const struct profile *p, struct json v)
{
    const peat_dims *d = &p->s->model->dims;
    double entropy = 0.0, most = 0.0, nearest = 2.0;
    int64_t at = 0;
    for (int64_t i = 0; i < d->L * d->H; i++) {
        const struct head_profile *h = &p->head[i];
        double distance = ratio(h->distance, h->queries) / (double)p->T;
        entropy += h->entropy;
        most += h->most;
        if (distance < nearest) {
            nearest = distance;
            at = i;
        }
    }
    put_summary(v,
                "entropy is %.0f %% of what uniform attention has; the nearest-looking head is "
                "head %lld of layer %lld, %.1f tokens away in the mean",
                100 * ratio(entropy, most), (long long)(at % d->H), (long long)(at / d->H),
                nearest * (double)p->T);
}

static void put_profile(struct profile *p, struct json v)
{
    const peat_dims *d = &p->s->model->dims;
    summarise(p, v);
    put_distances(p, v);
    put_ratios(v, "uniform", p->uniform, NULL, p->queries, p->n_distance);
    struct json layers = json_put_list(v, "layers");
    for (int64_t l = 0; l < d->L; l++) {
        struct json layer = json_add_map(layers);
        json_put_int(layer, "layer", l);
        struct json heads = json_put_list(layer, "heads");
        for (int64_t h = 0; h < d->H; h++)
            add_head_value(p, &p->head[l * d->H + h], h, heads);
    }
}

static void make_heads(struct profile *p)
{
    const peat_dims *d = &p->s->model->dims;
    p->head = ARENA_ARRAY(&p->s->arena, d->L * d->H, struct head_profile);
    for (int64_t i = 0; i < d->L * d->H; i++) {
        p->head[i].sum = ARENA_ARRAY(&p->s->arena, p->T * p->T, double);
        p->head[i].count = ARENA_ARRAY(&p->s->arena, p->T * p->T, double);
    }
}

void diagnose_attention(struct subject *s, struct json v)
{
    struct profile p = {.s = s, .T = s->batch[0].T};
    p.n_distance = bin_of(p.T - 1) + 1;
    make_heads(&p);
    subject_each(s, s->n_batch, add_batch, &p);
    put_profile(&p, v);
}
