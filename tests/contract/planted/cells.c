/* SPDX-License-Identifier: MIT */
/*
 * cells.c: a bias that falls with distance, by a number of each layer and head, and a number for
 * each token. The crimes show in some cells alone: with two axes, segments, marks, a class token,
 * long sequences, many rows, heads or layers, at a bound of a parameter; or in what is left behind.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    double base;
};

static const peat_param rows[] = {
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 100, .min = 1, .max = 1e6,
     .doc = "of a logarithm"},
    PEAT_PARAM_END,
};

struct self {
    int64_t calls;
};

enum { W, TABLE };

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    struct self *own = peat_alloc(s, sizeof(*own));
    if (!own)
        return PEAT_NOMEM;
    *self = own;
    const peat_init near = {.kind = PEAT_INIT_NORMAL, .a = 0.5, .b = 0.05};
    const int64_t layers[] = {s->dims.L, PEAT_HEADS}, ids[] = {s->dims.V + 1, 1};
    int32_t w = peat_param_new(s, "w", 2, layers, near, PEAT_ONCE, 0);
    (void)w, (void)ids;
#ifdef CRIME_starts_outside
    peat_bound(s, w, 1, 10);
#endif
#ifdef CRIME_class_id /* the class token has id V */
    const int64_t rows_of[] = {s->dims.V > 0 ? s->dims.V : 1, 1};
    peat_param_new(s, "table", 2, rows_of, near, PEAT_ONCE, 0);
#endif
    return PEAT_OK;
}

/* Of the place i of all rows. */
static double number(const peat_call *c, int64_t i)
{
    const struct config *k = c->config;
    const peat_side *q = c->q;
    int64_t t = i % q->T, b = i / q->T;
    double pos = q->pos[q->pos_B > 1 ? i : t], x = 0.1;
    (void)k, (void)b, (void)pos;
#if defined(CRIME_next_segment)
    x += q->segment && t + 1 < q->T ? 0.3 * q->segment[i + 1] : 0;
#elif defined(CRIME_next_mark)
    x += q->special && t + 1 < q->T ? 0.3 * q->special[i + 1] : 0;
#elif defined(CRIME_index_when_long)
    x += 0.01 * (q->T > 64 ? (double)t : pos);
#elif defined(CRIME_row_0_from_4_on)
    x += 0.01 * (q->pos_B > 4 && b > 4 ? q->pos[t] : pos);
#elif defined(CRIME_base_of_1)
    x += 0.1 / log(k->base);
#elif defined(CRIME_writes_config)
    ((struct config *)(uintptr_t)c->config)->base *= 1.001;
#elif defined(CRIME_counts_in_self)
    x += ((struct self *)(uintptr_t)c->self)->calls++ > 100000 ? 0.1 : 0;
#elif defined(CRIME_axis_nan)
    x = q->n_axes > 1 ? (double)NAN : x;
#elif defined(CRIME_axis_moves)
    x += q->n_axes > 1 ? 0.01 * pos : 0;
#endif
    return x;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    int64_t n = c->B * c->q->T;
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = number(c, i);
    x = peat_add(c->g, x, peat_mul(c->g, x, peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, value)));
#ifdef CRIME_class_id
    double *id = peat_scratch(c, n);
    for (int64_t i = 0; id && i < n; i++)
        id[i] = c->q->token[i];
    x = peat_add(c->g, x,
                 peat_gather_rows(c->g, peat_use(c, TABLE),
                                  peat_fill_index(c, 2, (int64_t[]){c->B, c->q->T}, id)));
#endif
    return x;
}

#ifdef CRIME_second_axis
static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
        out[i] = cos(pos[0]) + 1e-3 * sin(pos[1]);
}
#endif

/* Queries times a number of the layer and head. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t layer = c->layer, H = c->H;
#ifdef CRIME_layer_ignored
    layer = 0;
#endif
    peat_node *w = peat_slice(c->g, peat_use(c, W), 0, layer, layer + 1);
#ifdef CRIME_last_head_unused
    if (H > 1)
        w = peat_concat(
            c->g, 2,
            (peat_node *[]){peat_slice(c->g, w, 1, 0, H - 1), peat_slice(c->g, w, 1, 0, 1)}, 1);
#endif
    w = peat_reshape(c->g, w, 4, (int64_t[]){1, H, 1, 1});
#ifdef CRIME_second_axis
    peat_node *wave = peat_rows(c, c->q, 1, row);
    w = peat_mul(c->g, w, peat_reshape(c->g, wave, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1}));
#endif
    io->q = peat_mul(c->g, io->q, w);
    return PEAT_OK;
}

/* -|difference|, at most 1 */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *d = peat_scratch(c, r->n);
    for (int64_t i = 0; d && i < r->n; i++)
        d[i] = -fabs(r->delta[i]) / (1 + fabs(r->delta[i]));
    return peat_fill(c, 2, (int64_t[]){1, r->n}, d);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .setup = setup,
                                   .residual = residual,
                                   .qkv = qkv,
#if defined(CRIME_class_id)
                                   .needs = PEAT_NEED_TOKENS,
#endif
#if defined(CRIME_axis_moves)
                                   .traits = PEAT_SHIFT_INVARIANT,
#endif
                                   .max_axes = 2,
                                   .bias_rel = bias_rel};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0", "falls with distance",
            "MIT", "")
