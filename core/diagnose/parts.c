/* SPDX-License-Identifier: MIT */
/* parts.c: the parts at the input, and their projections in a layer. */
#include "diagnose/parts.h"

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

static void subtract(double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] -= y[i];
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

double parts_error(const struct parts *p)
{
    return sum_error(p->whole, p->x, p->rows * p->D);
}

static void close_parts(struct parts *p)
{
    for (int i = 0; i < PART_CONSTANT; i++)
        if (p->x[i])
            subtract(p->x[i], p->x[PART_CONSTANT], p->rows * p->D);
    p->error = parts_error(p);
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

/* Norms the parts in place. */
static void norm_rows(const struct norm_weights *n, struct parts *p)
{
    const double *w = n->w->value.data, *b = n->b ? n->b->value.data : NULL;
    for (int64_t row = 0; row < p->rows; row++) {
        const double *whole = p->whole + row * p->D;
        double mean = 0.0, square = 0.0;
        for (int64_t j = 0; b && j < p->D; j++)
            mean += whole[j] / (double)p->D;
        for (int64_t j = 0; j < p->D; j++)
            square += (whole[j] - mean) * (whole[j] - mean) / (double)p->D;
        double rate = 1.0 / sqrt(square + NORM_EPS);
        for (int i = 0; i < PARTS; i++) {
            double *x = p->x[i] ? p->x[i] + row * p->D : NULL, own = 0.0;
            for (int64_t j = 0; x && b && j < p->D; j++)
                own += x[j] / (double)p->D;
            for (int64_t j = 0; x && j < p->D; j++)
                x[j] = (x[j] - own) * rate * w[j] + (i == PART_CONSTANT && b ? b[j] : 0.0);
        }
    }
}

void parts_norm(const struct norm_weights *n, const struct parts *from, struct parts *to,
                struct arena *a)
{
    size_t bytes = (size_t)(from->rows * from->D) * sizeof(double);
    *to = *from;
    for (int p = 0; p < PARTS; p++)
        if (from->x[p])
            to->x[p] = memcpy(arena_alloc(a, bytes), from->x[p], bytes);
    norm_rows(n, to);
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

/* part -= base, in every group. */
static void chains_subtract(struct chains *part, const struct chains *base)
{
    for (int i = 0; i < part->n; i++)
        for (int w = 0; w < OF_ALL; w++)
            subtract(part->group[i].x[w], base->group[i].x[w], part->group[i].n[w]);
}

static void store(struct group_parts *g, const struct chains *c, enum part_kind p)
{
    for (int i = 0; i < c->n; i++)
        for (int w = 0; w < OF_ALL; w++)
            g[i].x[w][p] = c->group[i].x[w];
}

/* Adds positions that enter inside attention to the part of positions. */
static void add_sites(struct trace *t, int64_t layer, double *zero, const struct chains *silent,
                      struct group_parts *g)
{
    bool any = false;
    struct chains sites;
    for (int i = 0; i < POSITIONAL_MAX; i++)
        any = any || t->pass.stream[i];
    if (!any || !chains_of(t, layer, zero, true, &sites))
        return;
    chains_subtract(&sites, silent);
    for (int i = 0; i < sites.n; i++)
        for (int w = 0; w < OF_ALL; w++)
            for (int64_t j = 0; j < sites.group[i].n[w]; j++)
                g[i].x[w][PART_POSITION][j] += sites.group[i].x[w][j];
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
    struct parts y;
    struct chains silent, one;
    struct group_parts *g = list_groups(t, layer, n);
    double *zero = ARENA_ARRAY(&s->work, x->rows * x->D, double);
    parts_norm(&s->model->block[layer].norm1, x, &y, &s->work);
    chains_of(t, layer, zero, false, &silent);
    for (int p = 0; p < PARTS; p++) {
        if (!y.x[p] || !chains_of(t, layer, y.x[p], false, &one))
            continue;
        if (p != PART_CONSTANT)
            chains_subtract(&one, &silent);
        store(g, &one, (enum part_kind)p);
    }
    if (y.x[PART_POSITION])
        add_sites(t, layer, zero, &silent, g);
    if (!subject_is_well(s))
        return NULL;
    check_sums(t, g, *n);
    return g;
}
