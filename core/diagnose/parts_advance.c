/* SPDX-License-Identifier: MIT */
/* parts_advance.c: passes the parts through one block, with everything nonlinear held fixed. */

#include "diagnose/parts.h"
#include "maths/spectrum.h"
#include "tensor/gemm.h"

/* y [rows, out] = x [rows, in] w' */
static void product(const struct subject *s, const double *x, const struct weight *w, double *y,
                    int64_t rows)
{
    int64_t out = w->value.dim[0], in = w->value.dim[1];
    row_products(s->team, x, rows, w->value.data, out, in, 1.0, y, out);
}

static void add_rows(double *x, const struct weight *b, int64_t rows)
{
    int64_t n = tensor_count(&b->value);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < n; j++)
            x[row * n + j] += ((const double *)b->value.data)[j];
}

static void add_to(double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
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
        add_to(x->x[p], y, size);
        add_to(x->whole, y, size);
    }
}

/* act(u) / u */
static double slope(int64_t activation, double u)
{
    if (activation == ACTIVATION_RELU)
        return u > 0.0 ? 1.0 : 0.0;
    if (activation == ACTIVATION_GELU)
        return 0.5 * (1.0 + erf(u * sqrt(0.5)));
    return 0.5 * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (u + 0.044715 * u * u * u)));
}

/* The hidden units u [rows, F] of all parts, each times the slope at their sum. */
static void activate(double *const *u, int64_t n, int64_t activation)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int p = 0; p < PARTS; p++)
            sum += u[p] ? u[p][i] : 0.0;
        double by = slope(activation, sum);
        for (int p = 0; p < PARTS; p++)
            if (u[p])
                u[p][i] *= by;
    }
}

static void add_mlp(struct trace *t, const struct block *block, struct parts *x)
{
    struct subject *s = t->subject;
    int64_t F = block->up_w->value.dim[0], size = x->rows * x->D;
    struct parts normed;
    double *u[PARTS] = {NULL}, *y = ARENA_ARRAY(&s->work, size, double);
    parts_norm(&block->norm2, x, &normed, &s->work);
    for (int p = 0; p < PARTS; p++) {
        if (!x->x[p])
            continue;
        u[p] = ARENA_ARRAY(&s->work, x->rows * F, double);
        product(s, normed.x[p], block->up_w, u[p], x->rows);
        if (p == PART_CONSTANT)
            add_rows(u[p], block->up_b, x->rows);
    }
    activate(u, x->rows * F, s->model->config.activation);
    for (int p = 0; p < PARTS; p++) {
        if (!x->x[p])
            continue;
        product(s, u[p], block->down_w, y, x->rows);
        if (p == PART_CONSTANT)
            add_rows(y, block->down_b, x->rows);
        add_to(x->x[p], y, size);
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
    x->error = parts_error(x);
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
