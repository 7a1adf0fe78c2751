/* SPDX-License-Identifier: MIT */
/*
 * hook_cases.h: a scheme for every hook, each with a trainable tensor in the hardest way for the
 * engine.
 */
#pragma once

#include "support/modelcheck.h"

static peat_init noise(void)
{
    return (peat_init){.kind = PEAT_INIT_NORMAL, .a = 0.3, .b = 0.4};
}

/* ---- set-ups ---- */

/* One trainable tensor; the dimensions are an array. */
#define SETUP(name, rank, dims, copies)                                                            \
    static peat_status name(peat_setup *s, const void *config, void **self)                        \
    {                                                                                              \
        (void)config;                                                                              \
        (void)self;                                                                                \
        peat_param_new(s, "w", rank, dims, noise(), copies, 0);                                    \
        return PEAT_OK;                                                                            \
    }

SETUP(setup_heads, 1, (int64_t[]){PEAT_HEADS}, PEAT_ONCE)
SETUP(setup_heads_per_layer, 1, (int64_t[]){PEAT_HEADS}, PEAT_PER_LAYER)
SETUP(setup_stream, 1, &s->dims.d, PEAT_ONCE)
SETUP(setup_layers, 1, &s->dims.L, PEAT_ONCE)
SETUP(setup_width, 1, &s->dims.D, PEAT_PER_LAYER)
SETUP(setup_table, 2, ((int64_t[]){4, s->dims.D}), PEAT_ONCE)

/* w [H] as [1,H,1,1] */
static peat_node *per_head(const peat_call *c)
{
    return peat_reshape(c->g, peat_use(c, 0), 4, (int64_t[]){1, c->H, 1, 1});
}

/* ---- hooks ---- */

/* P = sin(pos * w) */
static peat_node *encode_sine(const peat_call *c)
{
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, c->q, 0), 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    return peat_sin(c->g, peat_mul(c->g, pos, peat_use(c, 0)));
}

/* Different in every row: the rest of the model must then take positions per row. */
static peat_status positions_stretch(const peat_call *c, double *pos)
{
    for (int64_t b = 0; b < c->B; b++) {
        double u;
        peat_random_row(c, "stretch", b, 1, &u);
        for (int64_t t = 0; t < c->q->T; t++)
            pos[b * c->q->T + t] *= 1.0 + u;
    }
    return PEAT_OK;
}

static peat_status positions_double(const peat_call *c, double *pos)
{
    for (int64_t i = 0; i < c->B * c->q->T; i++)
        pos[i] = pos[i] * 2.0 + (double)(i / c->q->T);
    return PEAT_OK;
}

/* On an axis more than the model's: places by three, and the row that they stand in. */
static peat_status own_by_three(const peat_call *c, double *pos)
{
    int64_t n = c->B * c->q->T;
    for (int64_t i = 0; i < n; i++) {
        pos[n + i] = floor(pos[i] / 3) + 0.5 * (double)(i / c->q->T);
        pos[i] -= 3 * floor(pos[i] / 3);
    }
    return PEAT_OK;
}

/* P = waves of w times the second of them */
static peat_node *encode_waves(const peat_call *c)
{
    peat_node *pos = c->q->n_axes == 2 ? peat_pos(c, c->q, 1) : NULL;
    pos = peat_reshape(c->g, pos, 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    peat_node *w = peat_slice(c->g, peat_use(c, 0), 0, 0, c->d / 2);
    return peat_waves(c, pos, w);
}

static peat_node *bias_rel_both_axes(const peat_call *c, const peat_rel *r)
{
    double *d = peat_scratch(c, r->n);
    for (int64_t i = 0; d && r->n_axes == 2 && i < r->n; i++)
        d[i] = -log1p(fabs(r->delta[i]) + 2 * fabs(r->delta[r->n + i]));
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->H, 1});
    return peat_mul(c->g, w, peat_fill(c, 2, (int64_t[]){1, r->n}, d));
}

/* Positions that the tokens add up to, with a gradient: [B,T,1] */
static peat_node *summed_positions(const peat_call *c, peat_node *x)
{
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->dims.D, 1});
    return peat_cumsum(c->g, peat_softplus(c->g, peat_matmul(c->g, x, w, 0)), 1, false);
}

static peat_status qkv_turn_by_sums(const peat_call *c, peat_qkv *io)
{
    peat_node *frequency = peat_frequencies(c, 1, 10);
    peat_node *q = peat_angles(c, summed_positions(c, c->x_q), frequency);
    peat_node *k = c->x_k == c->x_q ? q : peat_angles(c, summed_positions(c, c->x_k), frequency);
    return peat_turn(c, io, q, k, PEAT_HALVES);
}

static peat_node *bias_of_sums(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return peat_pairs(c->g, summed_positions(c, c->x_q),
                      peat_tanh(c->g, summed_positions(c, c->x_k)));
}

static peat_status prepare_square(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    shared[3] = peat_mul(c->g, peat_use(c, 0), peat_use(c, 0));
    return PEAT_OK;
}

static peat_node *bias_from_shared(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *w = peat_reshape(c->g, c->shared[3], 4, (int64_t[]){1, c->H, 1, 1});
    return peat_mul(c->g, w, peat_tanh(c->g, peat_delta(c, 0)));
}

static peat_node *residual_scale(const peat_call *c, peat_node *x)
{
    return peat_mul(c->g, x, peat_affine(c->g, peat_use(c, 0), 1.0, 1.0));
}

static peat_status hidden_three_ways(const peat_call *c, peat_node **xq, peat_node **xk,
                                     peat_node **xv)
{
    peat_node *w = peat_use(c, 0);
    *xq = peat_mul(c->g, *xq, w);
    *xk = peat_add(c->g, *xk, w);
    *xv = peat_tanh(c->g, *xv);
    return PEAT_OK;
}

/* q and k twice as wide: [sin, cos]-like pairs from softplus, as polar schemes do. */
static peat_status qkv_widen(const peat_call *c, peat_qkv *io)
{
    peat_node *q = peat_mul(c->g, peat_softplus(c->g, io->q), per_head(c));
    peat_node *k = peat_softplus(c->g, io->k);
    io->q = peat_concat(c->g, 2, (peat_node *[]){q, io->q}, -1);
    io->k = peat_concat(c->g, 2, (peat_node *[]){k, io->k}, -1);
    io->v = peat_mul(c->g, io->v, per_head(c));
    return PEAT_OK;
}

static peat_status qkv_rotate(const peat_call *c, peat_qkv *io)
{
    int64_t C = peat_shape_of(c->g, io->q).dim[3];
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, c->q, 0), 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1});
    peat_node *angle = peat_mul(c->g, pos, per_head(c));
    angle = peat_expand(c->g, angle, 4, (int64_t[]){c->q->pos_B, c->H, c->q->T, C / 2});
    peat_node *cosine = peat_cos(c->g, angle), *sine = peat_sin(c->g, angle);
    io->q = peat_rotate(c->g, io->q, cosine, sine, PEAT_INTERLEAVED);
    io->k = peat_rotate(c->g, io->k, cosine, sine, PEAT_INTERLEAVED);
    return PEAT_OK;
}

/* -w_h * log(1 + |delta|) */
static peat_node *bias_rel_log(const peat_call *c, const peat_rel *r)
{
    peat_node *d = peat_fill(c, 2, (int64_t[]){1, r->n}, r->delta);
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->H, 1});
    return peat_mul(c->g, w, peat_log1p(c->g, peat_abs(c->g, d)));
}

/* A gate of the keys' inputs: [B,1,1,Tk] */
static peat_node *bias_from_x(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->dims.D, 1});
    peat_node *gate = peat_log_sigmoid(c->g, peat_matmul(c->g, c->x_k, w, 0));
    return peat_reshape(c->g, gate, 4, (int64_t[]){c->B, 1, 1, c->k->T});
}

/* u.k as in Transformer-XL: [B,H,1,Tk] */
static peat_node *score_add_key(const peat_call *c, const peat_qkv *p)
{
    peat_node *sum = peat_sum(c->g, peat_mul(c->g, p->k, per_head(c)), -1);
    return peat_permute(c->g, sum, 4, (int32_t[]){0, 1, 3, 2});
}

/* q.K(r) with r through this layer's own key projection, as in DeBERTa */
static peat_node *score_add_projected(const peat_call *c, const peat_qkv *p)
{
    peat_node *table = peat_reshape(c->g, peat_use(c, 0), 3, (int64_t[]){1, 4, c->dims.D});
    peat_node *r = peat_project(c, table, 1);                    /* [1,H,4,C] */
    peat_node *score = peat_matmul(c->g, p->q, r, PEAT_TRANS_B); /* [B,H,T,4] */
    double *at = peat_scratch(c, c->q->T * c->k->T);
    for (int64_t i = 0; at && i < c->q->T * c->k->T; i++)
        at[i] = (double)((i / c->k->T + i % c->k->T) % 4);
    peat_node *index = peat_fill_index(c, 4, (int64_t[]){1, 1, c->q->T, c->k->T}, at);
    return peat_take_last(c->g, score, index);
}

/* Gates from masked logits and a reverse cumulative sum, as in CoPE */
static peat_node *logits_cumulative(const peat_call *c, const peat_qkv *p, peat_node *S,
                                    peat_node *bias)
{
    (void)p;
    (void)bias;
    peat_node *gate = peat_mul(c->g, peat_sigmoid(c->g, S), c->mask);
    peat_node *position = peat_cumsum(c->g, gate, -1, true);
    return peat_add(c->g, S, peat_mul(c->g, position, per_head(c)));
}

static peat_node *logits_with_bias(const peat_call *c, const peat_qkv *p, peat_node *S,
                                   peat_node *bias)
{
    (void)p;
    peat_node *b = bias ? peat_mul(c->g, peat_tanh(c->g, bias), per_head(c)) : NULL;
    return b ? peat_add(c->g, peat_add(c->g, S, bias), b)
             : peat_fail(c->g, "no bias arrived although another scheme has one");
}

/* exp(w S) / (1 + sum of exp(w S)): the softmax with one more logit, which is 0. */
static peat_node *softmax_off_by_one(const peat_call *c, const peat_qkv *p, peat_node *S,
                                     peat_node *bias)
{
    peat_node *seen =
        peat_affine(c->g, peat_pad(c->g, peat_affine(c->g, c->mask, -1, 1), -1, 0, 1), -1, 1);
    if (p || bias)
        return peat_fail(c->g, "what was not declared arrived");
    peat_node *W =
        peat_softmax(c->g, peat_pad(c->g, peat_mul(c->g, S, per_head(c)), -1, 0, 1), seen);
    return peat_slice(c->g, W, -1, 0, peat_shape_of(c->g, S).dim[3]);
}

static peat_node *softmax_with_bias(const peat_call *c, const peat_qkv *p, peat_node *S,
                                    peat_node *bias)
{
    if (!bias || !p)
        return peat_fail(c->g, "no bias or no queries arrived although they were declared");
    S = peat_add(c->g, S, peat_mul(c->g, bias, per_head(c)));
    return peat_mul(c->g, peat_sigmoid(c->g, S), c->mask);
}

static peat_node *weights_decay(const peat_call *c, peat_node *W)
{
    peat_node *d = peat_exp(c->g, peat_scale(c->g, peat_abs(c->g, peat_delta(c, 0)), -0.2));
    return peat_mul(c->g, W, peat_affine(c->g, peat_mul(c->g, d, per_head(c)), 1.0, 1.0));
}

static peat_node *context_scale(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    (void)p;
    return W ? peat_fail(c->g, "weights arrived although they were not declared")
             : peat_mul(c->g, o, per_head(c));
}

static peat_node *context_with_weights(const peat_call *c, const peat_qkv *p, peat_node *o,
                                       peat_node *W)
{
    peat_node *more = peat_matmul(c->g, peat_mul(c->g, W, W), p->v, 0);
    return peat_add(c->g, o, peat_mul(c->g, more, per_head(c)));
}

/* E [1|B,1|H,1,T], which goes from layer to layer: first w_0 times the places. */
static peat_node *of_layer(const peat_call *c, int64_t layer)
{
    peat_node *w = peat_slice(c->g, peat_use(c, 0), 0, layer, layer + 1);
    return peat_reshape(c->g, w, 4, (int64_t[]){1, 1, 1, 1});
}

static peat_status prepare_places(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    peat_node *pos = peat_pos(c, c->q, 0);
    pos = peat_reshape(c->g, pos, 4, (int64_t[]){c->q->pos_B, 1, 1, c->q->T});
    shared[0] = peat_mul(c->g, pos, of_layer(c, 0));
    return PEAT_OK;
}

static peat_node *bias_of_state(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return c->shared[0];
}

/* E_i = w_layer E_i + the sum of x_i / 10 */
static peat_status carry_x(const peat_call *c, peat_node *x, peat_node *W,
                           peat_node *state[PEAT_MAX_SHARED])
{
    peat_node *sums = peat_scale(c->g, peat_sum(c->g, x, -1), 0.1);
    (void)W;
    sums = peat_reshape(c->g, sums, 4, (int64_t[]){c->B, 1, 1, c->q->T});
    state[0] = peat_add(c->g, peat_mul(c->g, state[0], of_layer(c, c->layer + 1)), sums);
    return PEAT_OK;
}

/* E_i = w_layer (sum of W_ij E_j), on each head */
static peat_status carry_weighed(const peat_call *c, peat_node *x, peat_node *W,
                                 peat_node *state[PEAT_MAX_SHARED])
{
    peat_node *E = peat_sum(c->g, peat_mul(c->g, W, state[0]), -1);
    (void)x;
    E = peat_reshape(c->g, E, 4, (int64_t[]){c->B, peat_shape_of(c->g, W).dim[1], 1, c->q->T});
    state[0] = peat_mul(c->g, E, of_layer(c, c->layer + 1));
    return PEAT_OK;
}

/* ---- the table ---- */

#define SCHEME(name, ...) static const peat_scheme name = {.size = sizeof(peat_scheme), __VA_ARGS__}

SCHEME(with_encode, .setup = setup_stream, .encode = encode_sine);
SCHEME(with_positions, .setup = setup_stream, .positions = positions_stretch,
       .encode = encode_sine);
SCHEME(with_own_stream, .setup = setup_stream, .own_axes = 2, .own_positions = own_by_three,
       .encode = encode_waves);
SCHEME(with_own_differences, .setup = setup_heads, .own_axes = 2, .own_positions = own_by_three,
       .bias_rel = bias_rel_both_axes);
SCHEME(with_angles_of_x, .needs = PEAT_NEED_X, .setup = setup_width, .qkv = qkv_turn_by_sums);
SCHEME(with_pairs_of_x, .needs = PEAT_NEED_X, .setup = setup_width, .bias = bias_of_sums);
SCHEME(with_prepare, .setup = setup_heads, .prepare = prepare_square, .bias = bias_from_shared);
SCHEME(with_residual, .setup = setup_width, .residual = residual_scale);
SCHEME(with_hidden, .setup = setup_width, .hidden = hidden_three_ways);
SCHEME(with_qkv_wide, .setup = setup_heads, .qkv = qkv_widen);
SCHEME(with_qkv, .setup = setup_heads, .qkv = qkv_rotate);
SCHEME(with_bias_rel, .setup = setup_heads, .bias_rel = bias_rel_log);
SCHEME(with_bias_rel_per_layer, .setup = setup_heads_per_layer, .bias_rel = bias_rel_log);
SCHEME(with_bias_rel_whole, .setup = setup_heads, .positions = positions_double,
       .bias_rel = bias_rel_log);
SCHEME(with_bias_rel_pairs, .setup = setup_heads, .positions = positions_stretch,
       .bias_rel = bias_rel_log);
SCHEME(with_bias_x, .needs = PEAT_NEED_X, .setup = setup_width, .bias = bias_from_x);
SCHEME(with_score_add, .needs = PEAT_NEED_QK, .score_terms = 1, .setup = setup_heads,
       .score_add = score_add_key);
SCHEME(with_project, .needs = PEAT_NEED_QK | PEAT_NEED_PROJECT, .score_terms = 1,
       .setup = setup_table, .score_add = score_add_projected);
SCHEME(with_logits, .setup = setup_heads, .logits = logits_cumulative);
SCHEME(with_logits_bias, .needs = PEAT_NEED_BIAS, .setup = setup_heads, .logits = logits_with_bias);
SCHEME(with_softmax, .setup = setup_heads, .softmax = softmax_off_by_one);
SCHEME(with_softmax_bias, .needs = PEAT_NEED_BIAS | PEAT_NEED_QK, .setup = setup_heads,
       .softmax = softmax_with_bias);
SCHEME(with_weights, .setup = setup_heads, .weights = weights_decay);
SCHEME(with_context, .setup = setup_heads, .context = context_scale);
SCHEME(with_carry, .setup = setup_layers, .prepare = prepare_places, .bias = bias_of_state,
       .carry = carry_x);
SCHEME(with_carry_weights, .needs = PEAT_NEED_W, .setup = setup_layers, .prepare = prepare_places,
       .bias = bias_of_state, .carry = carry_weighed);
SCHEME(with_context_weights, .needs = PEAT_NEED_W | PEAT_NEED_QK, .setup = setup_heads,
       .context = context_with_weights);

struct hook_case {
    const char *name;
    const peat_scheme *scheme, *second; /* second: acts after it, NULL: none */
    bool fused;                         /* the fused path can run it */
};

static const struct hook_case hook_case[] = {
    {"encode", &with_encode, NULL, true},
    {"positions", &with_positions, NULL, true},
    {"own positions, waves", &with_own_stream, NULL, true},
    {"own positions, differences", &with_own_differences, NULL, true},
    {"own positions beside others", &with_own_differences, &with_bias_rel, true},
    {"angles of x", &with_angles_of_x, NULL, true},
    {"pairs of x", &with_pairs_of_x, NULL, true},
    {"prepare and bias", &with_prepare, NULL, true},
    {"residual", &with_residual, NULL, true},
    {"hidden", &with_hidden, NULL, true},
    {"qkv, wider heads", &with_qkv_wide, NULL, true},
    {"qkv, learned rotation", &with_qkv, NULL, true},
    {"bias_rel", &with_bias_rel, NULL, true},
    {"bias_rel, per layer", &with_bias_rel_per_layer, NULL, true},
    {"bias_rel, whole positions out of order", &with_bias_rel_whole, NULL, true},
    {"bias_rel, fractional positions", &with_bias_rel_pairs, NULL, true},
    {"bias from x", &with_bias_x, NULL, true},
    {"score_add from k", &with_score_add, NULL, true},
    {"score_add through project", &with_project, NULL, true},
    {"logits", &with_logits, NULL, false},
    {"logits with another scheme's bias", &with_bias_rel, &with_logits_bias, false},
    {"softmax", &with_softmax, NULL, false},
    {"softmax with another scheme's bias", &with_bias_rel, &with_softmax_bias, false},
    {"logits, then softmax", &with_logits, &with_softmax, false},
    {"weights of a replaced softmax", &with_weights, &with_softmax, false},
    {"weights", &with_weights, NULL, false},
    {"context", &with_context, NULL, true},
    {"context with weights", &with_context_weights, NULL, false},
    {"carry", &with_carry, NULL, true},
    {"carry with weights", &with_carry_weights, NULL, false},
    {"two chains", &with_qkv, &with_qkv_wide, true},
    {"two streams", &with_encode, &with_positions, true},
    {"two biases", &with_bias_rel, &with_score_add, true},
};

enum { N_CASES = sizeof(hook_case) / sizeof(*hook_case) };
