/* SPDX-License-Identifier: MIT */
/* parts.c: the parts at the input, their projections in a layer, and their way through a block. */
#include "diagnose/parts.h"

#include "maths/spectrum.h"
#include "tensor/gemm.h"
#include "train/trainer.h"

const char *const part_name[PARTS] = {"token", "position", "segment", "constant"};

bool parts_are_linear(const struct parts *p)
{
    return p->error < PARTS_ROUNDING;
}

/* ---- small sums ---- */

static double largest(const double *x, int64_t n)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Largest |whole - sum of parts| / largest |whole|. */
static double sum_error(const double *whole, double *const *part, int64_t n)
{
    double worst = 0.0, most = largest(whole, n);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int p = 0; p < PARTS; p++)
            sum += part[p] ? part[p][i] : 0.0;
        worst = fmax(worst, fabs(whole[i] - sum));
    }
    return most > 0.0 ? worst / most : worst;
}

/* x += sign y */
static void add(double *x, double sign, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += sign * y[i];
}

/* ---- at the input ---- */

static bool has_stream(const struct model *m, enum part_kind p)
{
    const struct positional *s = m->positional;
    if (p == PART_TOKEN || p == PART_CONSTANT)
        return true;
    if (p == PART_SEGMENT)
        return m->segment != NULL || m->config.n_stream > 0;
    for (int i = 0; i < s->n_scheme; i++)
        if (s->scheme[i].hooks->encode)
            return true;
    return false;
}

/* The merged input and block 0's input without the streams of the kinds `silent`. */
static void run_without(struct subject *s, const peat_batch *b, unsigned silent, double **input,
                        double **block)
{
    struct trace t;
    if (trace_run(&t, s, b, &(struct trace_options){.silent = silent, .input_alone = true})) {
        *input = node_copy(t.input, &s->work);
        *block = node_copy(t.residual[0], &s->work);
    }
    trace_end(&t);
}

static void close_parts(struct parts *p)
{
    int64_t n = p->rows * p->D;
    for (int i = 0; i < PART_CONSTANT; i++)
        if (p->x[i])
            add(p->x[i], -1.0, p->x[PART_CONSTANT], n);
    p->error = sum_error(p->whole, p->x, n);
}

bool parts_find(struct subject *s, const peat_batch *b, struct parts *input, struct parts *block)
{
    *input = *block = (struct parts){.rows = b->B * b->T, .D = s->model->dims.D};
    run_without(s, b, 0, &input->whole, &block->whole);
    /* PART_CONSTANT is not a kind of stream, so that all are silent for it. */
    for (int p = 0; p < PARTS; p++)
        if (has_stream(s->model, (enum part_kind)p))
            run_without(s, b, ~(1u << p), &input->x[p], &block->x[p]);
    if (!subject_is_well(s))
        return false;
    close_parts(input);
    close_parts(block);
    return true;
}

/* Norms the parts in place: y_p = (x_p - mean x_p) / sqrt(var x + eps) * w, and + b, if there is
 * one, for the constant part; an RMS norm has neither mean nor b. */
static void norm_rows(const struct norm_weights *n, struct parts *p)
{
    const double *w = n->w->value.data, *b = n->b ? n->b->value.data : NULL;
    const bool centre = n->kind == NORM_LAYER;
    for (int64_t row = 0; row < p->rows; row++) {
        const double *whole = p->whole + row * p->D;
        double mean = 0.0, square = 0.0;
        for (int64_t j = 0; centre && j < p->D; j++)
            mean += whole[j] / (double)p->D;
        for (int64_t j = 0; j < p->D; j++)
            square += (whole[j] - mean) * (whole[j] - mean) / (double)p->D;
        double rate = 1.0 / sqrt(square + n->eps);
        for (int i = 0; i < PARTS; i++) {
            double *x = p->x[i] ? p->x[i] + row * p->D : NULL, own = 0.0;
            for (int64_t j = 0; x && centre && j < p->D; j++)
                own += x[j] / (double)p->D;
            for (int64_t j = 0; x && j < p->D; j++)
                x[j] = (x[j] - own) * rate * w[j] + (i == PART_CONSTANT && b ? b[j] : 0.0);
        }
    }
}

/* Normed copies of the parts; `whole` is shared. */
static struct parts normed(const struct norm_weights *n, const struct parts *x, struct arena *a)
{
    size_t bytes = (size_t)(x->rows * x->D) * sizeof(double);
    struct parts y = *x;
    for (int p = 0; p < PARTS; p++)
        if (x->x[p])
            y.x[p] = memcpy(arena_alloc(a, bytes), x->x[p], bytes);
    norm_rows(n, &y);
    return y;
}

/* ---- projections ---- */

/* Queries, keys and values of one call of attention_forward. */
struct chains {
    struct arena *arena;
    int n;
    struct chain {
        double *x[OF_ALL];
        int64_t n[OF_ALL];
    } group[2 * POSITIONAL_MAX + 1];
};

static struct chain copy_chain(const peat_qkv *from, struct arena *a)
{
    const peat_node *const node[] = {from->q, from->k, from->v};
    struct chain c;
    for (int w = 0; w < OF_ALL; w++) {
        c.x[w] = node_copy(node[w], a);
        c.n[w] = tensor_count(&node[w]->value);
    }
    return c;
}

static void on_chain(void *ctx, const struct attention_seen *seen)
{
    struct chains *c = ctx;
    c->group[c->n++] = copy_chain(&seen->chain, c->arena);
}

/* Replaces the streams that attention merges by zeros, unless `sites`; kept: the streams. */
static void silence_sites(struct trace *t, peat_node **kept, bool sites)
{
    for (int i = 0; i < POSITIONAL_MAX; i++) {
        kept[i] = t->pass.stream[i];
        if (!sites && kept[i])
            t->pass.stream[i] = graph_zeros_like(&t->g, kept[i]);
    }
}

/* Queries, keys and values from the normed input y. */
static bool chains_of(struct trace *t, int64_t layer, double *y, bool sites, struct chains *out)
{
    struct subject *s = t->subject;
    const struct attention_options options = block_attention_options(&s->model->config);
    const struct observer watch = {.ctx = out, .chain_only = true, .attention = on_chain};
    const int64_t dim[] = {t->in.B, t->in.T, s->model->dims.D};
    peat_node *kept[POSITIONAL_MAX], *x = graph_constant(&t->g, PEAT_F64, 3, dim, y);
    *out = (struct chains){.arena = &s->work};
    silence_sites(t, kept, sites);
    t->pass.observer = &watch;
    attention_forward(&t->pass, &s->model->block[layer].attention, &options, layer, x, NULL);
    t->pass.observer = &t->observer;
    memcpy(t->pass.stream, kept, sizeof(kept));
    return subject_is_well(s) &&
           forward_status(&t->g, "a part of the input cannot be run", &s->err) == PEAT_OK;
}

/* Adds the chains, less the chains `silent` (NULL: nothing less), to part p of every group. */
static void add_part(struct group_parts *g, enum part_kind p, const struct chains *c,
                     const struct chains *silent)
{
    for (int i = 0; i < c->n; i++)
        for (int w = 0; w < OF_ALL; w++) {
            double *x = c->group[i].x[w];
            int64_t n = c->group[i].n[w];
            if (silent)
                add(x, -1.0, silent->group[i].x[w], n);
            if (g[i].x[w][p])
                add(g[i].x[w][p], 1.0, x, n);
            else
                g[i].x[w][p] = x;
        }
}

static bool has_sites(const struct trace *t)
{
    for (int i = 0; i < POSITIONAL_MAX; i++)
        if (t->pass.stream[i])
            return true;
    return false;
}

static void check_sums(struct trace *t, struct group_parts *g, int n)
{
    for (int i = 0; i < n; i++) {
        struct chain c = copy_chain(&g[i].seen->chain, &t->subject->work);
        for (int w = OF_QUERY; w <= OF_KEY; w++)
            g[i].error = fmax(g[i].error, sum_error(c.x[w], g[i].x[w], c.n[w]));
    }
}

/* Finds the groups of one layer in the order in which the pass showed them. */
static struct group_parts *list_groups(struct trace *t, int64_t layer, int *n)
{
    struct group_parts *g = ARENA_ARRAY(&t->subject->work, t->n_seen, struct group_parts);
    *n = 0;
    for (int i = 0; i < t->n_seen; i++) {
        const struct attention_seen *seen = &t->seen[i];
        if (seen->layer != layer)
            continue;
        g[(*n)++] = (struct group_parts){.seen = seen,
                                         .H = seen->end - seen->begin,
                                         .C = seen->chain.q->value.dim[3],
                                         .Cv = seen->chain.v->value.dim[3]};
    }
    return g;
}

struct group_parts *parts_project(struct trace *t, int64_t layer, const struct parts *x, int *n)
{
    struct subject *s = t->subject;
    const struct parts y = normed(&s->model->block[layer].norm1, x, &s->work);
    struct chains silent, one;
    struct group_parts *g = list_groups(t, layer, n);
    double *zero = ARENA_ARRAY(&s->work, x->rows * x->D, double);
    chains_of(t, layer, zero, false, &silent);
    for (int p = 0; p < PARTS; p++)
        if (y.x[p] && chains_of(t, layer, y.x[p], false, &one))
            add_part(g, (enum part_kind)p, &one, p == PART_CONSTANT ? NULL : &silent);
    /* Positions that enter inside attention belong to the part of positions. */
    if (y.x[PART_POSITION] && has_sites(t) && chains_of(t, layer, zero, true, &one))
        add_part(g, PART_POSITION, &one, &silent);
    if (!subject_is_well(s))
        return NULL;
    check_sums(t, g, *n);
    return g;
}

/* ---- through a block ---- */

/* y [rows, out] = x [rows, in] w' */
static void product(const struct subject *s, const double *x, const struct weight *w, double *y,
                    int64_t rows)
{
    int64_t out = w->value.dim[0], in = w->value.dim[1];
    row_products(s->team, x, rows, w->value.data, out, in, 1.0, y, out);
}

/* b NULL: none */
static void add_rows(double *x, const struct weight *b, int64_t rows)
{
    int64_t n = b ? tensor_count(&b->value) : 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < n; j++)
            x[row * n + j] += ((const double *)b->value.data)[j];
}

/* context [B,T,D] of the group's heads: W v for the values v of one part. */
static void weigh(const struct trace *t, const struct group_parts *g, const double *weights,
                  const double *v, double *context)
{
    int64_t B = t->in.B, T = t->in.T, D = t->subject->model->dims.D;
    for (int64_t b = 0; b < B; b++)
        for (int64_t h = 0; h < g->H; h++) {
            const struct gemm one = {.dtype = PEAT_F64,
                                     .m = T,
                                     .n = g->Cv,
                                     .k = T,
                                     .alpha = 1.0,
                                     .a = weights + (b * g->H + h) * T * T,
                                     .b = v + (b * g->H + h) * T * g->Cv,
                                     .c = context + b * T * D + (g->seen->begin + h) * g->Cv,
                                     .lda = T,
                                     .ldb = g->Cv,
                                     .ldc = D};
            gemm_one(t->subject->team, &one);
        }
}

static void add_attention(struct trace *t, const struct block *block, struct parts *x,
                          const struct group_parts *group, int n)
{
    struct arena *a = &t->subject->work;
    int64_t size = x->rows * x->D;
    double **weights = ARENA_ARRAY(a, n, double *);
    double *context = ARENA_ARRAY(a, size, double), *y = ARENA_ARRAY(a, size, double);
    for (int i = 0; i < n; i++)
        weights[i] = node_copy(group[i].seen->weights, a);
    for (int p = 0; p < PARTS; p++) {
        if (!x->x[p])
            continue;
        for (int i = 0; i < n; i++)
            weigh(t, &group[i], weights[i], group[i].x[OF_VALUE][p], context);
        product(t->subject, context, block->attention.out_w, y, x->rows);
        if (p == PART_CONSTANT)
            add_rows(y, block->attention.out_b, x->rows);
        add(x->x[p], 1.0, y, size);
        add(x->whole, 1.0, y, size);
    }
}

/* act(u) / u, act that of a gate's first product */
static double slope(int64_t activation, double u)
{
    if (activation == ACTIVATION_RELU)
        return u > 0.0 ? 1.0 : 0.0;
    if (activation == ACTIVATION_SWIGLU)
        return 1.0 / (1.0 + exp(-u));
    if (activation == ACTIVATION_GELU || activation == ACTIVATION_GEGLU)
        return 0.5 * (1.0 + erf(u * sqrt(0.5)));
    return 0.5 * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (u + 0.044715 * u * u * u)));
}

/* From u [rows, U] the hidden units [rows, F] of all parts, in place: each times the slope at their
 * sum, or of a gate, U = 2F, the second product times act of the whole first. */
static void activate(double *const *u, int64_t rows, int64_t U, int64_t F, int64_t activation)
{
    for (int64_t i = 0; i < rows * F; i++) {
        const int64_t at = i / F * U + i % F;
        double sum = 0.0;
        for (int p = 0; p < PARTS; p++)
            sum += u[p] ? u[p][at] : 0.0;
        const double by = slope(activation, sum) * (U > F ? sum : 1.0);
        for (int p = 0; p < PARTS; p++)
            if (u[p])
                u[p][i] = u[p][at + U - F] * by;
    }
}

static void add_mlp(struct trace *t, const struct block *block, struct parts *x)
{
    struct subject *s = t->subject;
    const int64_t U = block->up_w->value.dim[0], F = block->down_w->value.dim[1];
    const int64_t size = x->rows * x->D;
    const struct parts in = normed(&block->norm2, x, &s->work);
    double *u[PARTS] = {NULL}, *y = ARENA_ARRAY(&s->work, size, double);
    for (int p = 0; p < PARTS; p++) {
        if (!x->x[p])
            continue;
        u[p] = ARENA_ARRAY(&s->work, x->rows * U, double);
        product(s, in.x[p], block->up_w, u[p], x->rows);
        if (p == PART_CONSTANT)
            add_rows(u[p], block->up_b, x->rows);
    }
    activate(u, x->rows, U, F, s->model->config.activation);
    for (int p = 0; p < PARTS; p++) {
        if (!x->x[p])
            continue;
        product(s, u[p], block->down_w, y, x->rows);
        if (p == PART_CONSTANT)
            add_rows(y, block->down_b, x->rows);
        add(x->x[p], 1.0, y, size);
    }
}

void parts_advance(struct trace *t, int64_t layer, struct parts *x, const struct group_parts *group,
                   int n)
{
    const struct block *block = &t->subject->model->block[layer];
    add_attention(t, block, x, group, n);
    add_mlp(t, block, x);
    const struct tensor *next = &t->residual[layer + 1]->value;
    struct tensor whole = tensor_shape(PEAT_F64, next->rank, next->dim);
    whole.data = x->whole;
    tensor_copy(&whole, next);
    x->error = sum_error(x->whole, x->x, x->rows * x->D);
}

const char *parts_obstacle(const struct model *m, int64_t layer, struct arena *a)
{
    for (int i = 0; i < m->positional->n_scheme; i++) {
        const struct scheme_part *s = &m->positional->scheme[i];
        bool here = where_acts(&s->where, layer);
        bool next = layer + 1 < m->dims.L && where_acts(&s->where, layer + 1);
        if (here && s->hooks->context)
            return arena_printf(a, "after layer %lld: scheme '%s' changes what attention hands on",
                                (long long)layer, s->part.id);
        if (next && (s->hooks->residual || (s->hooks->encode && s->where.at == SITE_RESIDUAL)))
            return arena_printf(
                a, "after layer %lld: scheme '%s' acts on the residual stream of every block",
                (long long)layer, s->part.id);
    }
    return NULL;
}
