/* SPDX-License-Identifier: MIT */
/* order.c: permutes the other tokens and measures the change at the last place. */

#include "diagnose/trace.h"
#include "rounded.h"

enum { PERMUTATIONS = 4 };

/* Sums over windows and permutations, for the stream after l blocks, 0 .. L, and for the logits. */
struct order {
    struct subject *s;
    double *change, *norm; /* [L + 2] */
    bool input_moves;      /* permuting tokens changes the input by more than their order */
    int64_t windows;
};

static const double ROUNDING = 1e-12;

/* ---- permuting ---- */

/* The last place that is not padding; -1: all are. */
static int64_t last_place(const peat_batch *b, int64_t row)
{
    int64_t last = b->T - 1;
    while (last >= 0 && b->has_pad && b->pad[row * b->T + last])
        last--;
    return last;
}

/* Whether place i may be exchanged with other places of the same kind. */
static bool may_move(const peat_batch *b, int64_t row, int64_t i, int64_t last, bool causal)
{
    int64_t at = row * b->T + i, end = row * b->T + last;
    if (i == last || (causal && i > last) || (b->has_pad && b->pad[at]))
        return false;
    return !b->has_document || b->document[at] == b->document[end];
}

/* from [B*T]: the place from which each place gets its token. */
static void draw(const struct subject *s, const peat_batch *b, uint64_t stream, int64_t *from,
                 int64_t *place)
{
    for (int64_t row = 0; row < b->B; row++) {
        int64_t n = 0, last = last_place(b, row);
        uint64_t own = rng_substream(stream, (uint64_t)row);
        for (int64_t i = 0; i < b->T; i++) {
            from[row * b->T + i] = row * b->T + i;
            if (last >= 0 && may_move(b, row, i, last, s->model->dims.causal))
                place[n++] = row * b->T + i;
        }
        for (int64_t i = n - 1; i > 0; i--) {
            int64_t j = (int64_t)(rng_bits(own, (uint64_t)i) % (uint64_t)(i + 1));
            int64_t kept = from[place[i]];
            from[place[i]] = from[place[j]];
            from[place[j]] = kept;
        }
    }
}

/* Copies items from[0 .. n-1] of x. */
static void *gather(const void *x, size_t each, const int64_t *from, int64_t n, struct arena *a)
{
    char *out = arena_alloc(a, (size_t)n * each);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * each, (const char *)x + (size_t)from[i] * each, each);
    return out;
}

/* b with tokens, segments, streams of the task and marks of special tokens permuted. */
static peat_batch permute(const peat_batch *b, const int64_t *from, struct arena *a)
{
    int64_t n = b->B * b->T;
    peat_batch out = *b;
    out.token = gather(b->token, sizeof(*b->token), from, n, a);
    out.segment = gather(b->segment, sizeof(*b->segment), from, n, a);
    out.special = gather(b->special, sizeof(*b->special), from, n, a);
    for (int64_t k = 0; k < b->n_stream; k++) {
        size_t numbers = (size_t)b->stream_numbers[k];
        if (numbers == 0)
            out.stream_id[k] = gather(b->stream_id[k], sizeof(**b->stream_id), from, n, a);
        else
            out.stream_number[k] =
                gather(b->stream_number[k], numbers * sizeof(**b->stream_number), from, n, a);
    }
    return out;
}

/* ---- measuring ---- */

/* The stream after l blocks, 0 .. L, and the logits, of one pass: [L + 2][B*T, width]. */
static double **run_batch(struct subject *s, const peat_batch *b)
{
    int64_t L = s->model->dims.L;
    struct trace t;
    double **left = ARENA_ARRAY(&s->work, L + 2, double *);
    bool ran = trace_run(&t, s, b, &(struct trace_options){0});
    for (int64_t l = 0; ran && l <= L + 1; l++)
        left[l] = node_copy(l <= L ? t.residual[l] : t.logits, &s->work);
    trace_end(&t);
    return left;
}

static void compare_rows(const double *x, const double *y, int64_t n, double *change, double *norm)
{
    for (int64_t i = 0; i < n; i++) {
        *change += (y[i] - x[i]) * (y[i] - x[i]);
        *norm += x[i] * x[i];
    }
}

static void compare(struct order *o, const peat_batch *b, const int64_t *from, double *const *x,
                    double *const *y)
{
    int64_t L = o->s->model->dims.L, D = o->s->model->dims.D, V = o->s->model->config.vocab;
    for (int64_t row = 0; row < b->B; row++) {
        int64_t last = last_place(b, row);
        if (last < 0)
            continue;
        for (int64_t l = 0; l <= L + 1; l++) {
            int64_t width = l <= L ? D : V, at = (row * b->T + last) * width;
            compare_rows(x[l] + at, y[l] + at, width, &o->change[l], &o->norm[l]);
        }
    }
    double change = 0.0, norm = 0.0;
    for (int64_t i = 0; i < b->B * b->T; i++)
        compare_rows(x[0] + from[i] * D, y[0] + i * D, D, &change, &norm);
    o->input_moves = o->input_moves || change > ROUNDING * ROUNDING * norm;
}

static void add_batch(void *ctx, const peat_batch *b)
{
    struct order *o = ctx;
    struct subject *s = o->s;
    int64_t *from = ARENA_ARRAY(&s->work, b->B * b->T, int64_t);
    int64_t *place = ARENA_ARRAY(&s->work, b->T, int64_t);
    double **x = run_batch(s, b);
    for (int i = 0; i < PERMUTATIONS; i++) {
        uint64_t stream = rng_substream(s->stream, 2 + (uint64_t)i);
        draw(s, b, rng_substream(stream, (uint64_t)(b - s->batch)), from, place);
        peat_batch permuted = permute(b, from, &s->work);
        double **y = run_batch(s, &permuted);
        if (subject_is_well(s))
            compare(o, b, from, x, y);
        o->windows += b->B;
    }
}

/* ---- expectations from theory ---- */

/* Whether the change must be 0. Mixers other than attention read in order. Attention without any
 * position treats the keys as a set: a bidirectional model is then equivariant at every depth, and
 * a causal one only in its first layer, whose last query sees all keys. */
static bool must_be_zero(const struct order *o, int64_t layer)
{
    const struct model *m = o->s->model;
    if (m->config.mixer != MIXER_ATTENTION)
        return false;
    for (int i = 0; i < m->positional->n_scheme; i++)
        if (scheme_acts_on(m->positional->scheme[i].hooks, ACTS_BEFORE | ACTS_ON_MODEL))
            return false;
    if (o->input_moves || m->config.window > 0)
        return false;
    return !m->dims.causal || layer <= 1;
}

static double relative(const struct order *o, int64_t l)
{
    return o->norm[l] > 0.0 ? sqrt(o->change[l] / o->norm[l]) : (double)NAN;
}

static void put_order(const struct order *o, struct json v)
{
    int64_t L = o->s->model->dims.L;
    struct json layers = json_list(v.a);
    bool zero = must_be_zero(o, L), holds = true;
    for (int64_t l = 1; l <= L; l++) {
        struct json one = json_add_map(layers);
        double change = relative(o, l);
        json_put_int(one, "layer", l);
        put_rounded(one, "change", change);
        json_put_bool(one, "must_be_zero", must_be_zero(o, l));
        holds = holds && !(must_be_zero(o, l) && change > ROUNDING);
    }
    if (!holds)
        put_summary(v, "order changes the last output where it must not: this is an error");
    else if (zero)
        put_summary(v, "the model does not know the order of the other tokens, as it must be "
                       "without positions");
    else
        put_summary(v,
                    "permuting the other tokens moves the last place's stream by %.3g of its "
                    "length after the first block and by %.3g after the last",
                    relative(o, 1), relative(o, L));
    json_put_int(v, "permutations", PERMUTATIONS);
    json_put_int(v, "windows", o->windows);
    json_put(v, "layers", layers.v);
    put_rounded(v, "logits", relative(o, L + 1));
}

void diagnose_order(struct subject *s, struct json v)
{
    int64_t n = s->model->dims.L + 2;
    struct order o = {.s = s,
                      .change = ARENA_ARRAY(&s->arena, n, double),
                      .norm = ARENA_ARRAY(&s->arena, n, double)};
    if (s->batch[0].T < 3) {
        json_put_text(v, "skipped", "windows of less than 3 tokens have no order to change");
        return;
    }
    subject_each(s, s->n_batch, add_batch, &o);
    put_order(&o, v);
}
