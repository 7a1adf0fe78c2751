/* SPDX-License-Identifier: MIT */
/*
 * layers.c: queries times a gain of each layer and head, inputs times a trained number of their
 * stretch of positions, a bias by distance from a table, and positions that grow from layer to
 * layer. The crimes are tensors of which a part is never trained, or is where it must not be.
 */
#include <math.h>

#include <peat/plugin.h>

enum { GAIN, STRETCH, NEAR, POWER, PULL };
enum { LINEAR, SQUARED, TRAINED };
enum { STRETCHES = 8, NEAREST = 6 };

struct config {
    int64_t shape;
};

static const char *const shapes[] = {"linear", "squared", "trained", NULL};

static const peat_param rows[] = {
    {"shape", PEAT_ENUM, offsetof(struct config, shape), .preset = LINEAR, .labels = shapes,
     .doc = "the power of the distance"},
    PEAT_PARAM_END,
};

/* 2^-1, 2^-2, ... for the heads of each layer, which are clamped at 0.01. */
static double *halves(peat_setup *s)
{
    int64_t n = s->dims.L * s->dims.H;
    double *value = peat_alloc(s, (size_t)n * sizeof(*value));
    for (int64_t i = 0; value && i < n; i++)
        value[i] = exp2(-(double)(i % s->dims.H + 1));
    return value;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    peat_init half = {.kind = PEAT_INIT_NORMAL, .a = 0.5, .b = 0.05}, gain = half;
    peat_init zero = {.kind = PEAT_INIT_ZERO}, tenth = {.kind = PEAT_INIT_CONSTANT, .a = 0.1};
    int64_t heads = PEAT_HEADS, stretches = STRETCHES;
    (void)self;
    gain.values = halves(s);
    if (!gain.values)
        return PEAT_NOMEM;
#if defined(CRIME_heads_of_model)
    heads = s->dims.H;
#elif defined(CRIME_heads_outside_clamp)
    gain.kind = PEAT_INIT_VALUES;
#elif defined(CRIME_rows_of_longest)
    stretches = (s->dims.T_max + 3) / 4;
#endif
    peat_param_new(s, "gain", 2, (int64_t[]){s->dims.L, heads}, gain, PEAT_ONCE, 0);
    peat_param_new(s, "stretch", 1, &stretches, zero, PEAT_ONCE, 0);
    peat_param_new(s, "near", 2, (int64_t[]){PEAT_HEADS, NEAREST}, half, PEAT_ONCE, 0);
#ifdef CRIME_some_start_outside /* one number in forty */
    peat_bound(s, NEAR, 0.4, 10);
#else
    peat_bound(s, NEAR, 0.01, 10);
#endif
    peat_param_new(s, "power", 1, (int64_t[]){1}, half, PEAT_ONCE,
                   k->shape == TRAINED ? 0 : PEAT_FROZEN);
    if (s->dims.L > 1)
        peat_param_new(s, "pull", 1, (int64_t[]){s->dims.L - 1}, tenth, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* The state, [pos_B, 1, T, 1], begins as the logarithms of the positions. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    peat_node *pos = peat_log1p(c->g, peat_abs(c->g, peat_pos(c, c->q, 0)));
    shared[0] = peat_reshape(c->g, pos, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1});
    return PEAT_OK;
}

static peat_status carry(const peat_call *c, peat_node *x, peat_node *W,
                         peat_node *state[PEAT_MAX_SHARED])
{
    (void)x, (void)W;
#ifdef CRIME_carry_stops
    if (c->layer > 1)
        return PEAT_OK;
#endif
    peat_node *pull = peat_slice(c->g, peat_use(c, PULL), 0, c->layer, c->layer + 1);
    state[0] = peat_mul(c->g, state[0], peat_affine(c->g, pull, 1, 1));
    return PEAT_OK;
}

/* x of each place times 1 + the number of its stretch of four positions */
static peat_status hidden(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv)
{
    int64_t n = c->q->pos_B * c->q->T;
    double *index = peat_scratch(c, n);
    for (int64_t i = 0; index && i < n; i++) {
        double at = floor(c->q->pos[i] / 4);
#if defined(CRIME_negative_position)
        index[i] = fmin(at, STRETCHES - 1);
#elif defined(CRIME_rows_of_longest)
        index[i] = fmax(at, 0);
#else
        index[i] = fmax(fmin(at, STRETCHES - 1), 0);
#endif
    }
    peat_node *at = peat_fill_index(c, 2, (int64_t[]){c->q->pos_B, c->q->T}, index);
    peat_node *number = peat_reshape(c->g, peat_use(c, STRETCH), 2, (int64_t[]){-1, 1});
    number = peat_affine(c->g, peat_gather_rows(c->g, number, at), 1, 1);
    (void)xk;
    *xq = peat_mul(c->g, *xq, number);
    *xv = peat_mul(c->g, *xv, number);
    return PEAT_OK;
}

/* Queries times the gain; the state is added to keys. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t layer = c->layer;
#ifdef CRIME_layers_in_turn /* of two layers alone */
    layer %= 2;
#endif
    peat_node *gain = peat_clamp(c->g, peat_use(c, GAIN), 0.01, 10);
    gain = peat_slice(c->g, peat_slice(c->g, gain, 0, layer, layer + 1), 1, 0, c->H);
    io->q = peat_mul(c->g, io->q, peat_reshape(c->g, gain, 4, (int64_t[]){1, c->H, 1, 1}));
    io->k = peat_add(c->g, io->k, peat_scale(c->g, c->shared[0], 0.1));
    return PEAT_OK;
}

/* -near[h, min(|delta|, 5)] (1 + |delta|)^(power / 4) */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    const struct config *k = c->config;
    double *index = peat_scratch(c, r->n), *far = peat_scratch(c, r->n);
    double power = k->shape == SQUARED ? 2 : 1;
    for (int64_t i = 0; index && far && i < r->n; i++) {
        index[i] = fmin(floor(fabs(r->delta[i])), NEAREST - 1);
        far[i] = power / 4 * log1p(fabs(r->delta[i]));
    }
    peat_node *fall = peat_fill(c, 2, (int64_t[]){1, r->n}, far);
#ifndef CRIME_label_forgotten
    if (k->shape == TRAINED)
        fall = peat_mul(c->g, fall, peat_use(c, POWER));
#endif
    peat_node *near =
        peat_take_last(c->g, peat_use(c, NEAR), peat_fill_index(c, 2, (int64_t[]){1, r->n}, index));
    return peat_scale(c->g, peat_mul(c->g, near, peat_exp(c->g, fall)), -1);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .setup = setup,
                                   .prepare = prepare,
                                   .hidden = hidden,
                                   .qkv = qkv,
                                   .bias_rel = bias_rel,
                                   .carry = carry};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0",
            "gains of layers and heads, and a bias from a table", "MIT", "")
