/* SPDX-License-Identifier: MIT */
/* block.c: x += attention(norm1(x)), or another mixer; x += cross(norm_cross(x)); x +=
 * mlp(norm2(x)). */
#include "model/block.h"

#include "nn/stored.h"

struct weight *matrix_declare(struct weights *w, const char *name, int64_t rows, int64_t columns,
                              double std)
{
    return weights_add(w, name, 2, (int64_t[]){rows, columns},
                       (peat_init){.kind = PEAT_INIT_NORMAL, .b = std}, 0);
}

void affine_declare(struct weights *w, const char *name, int64_t out, int64_t in, double gain,
                    peat_init shift, struct weight **weight, struct weight **bias)
{
    *weight = matrix_declare(w, arena_printf(w->arena, "%s.weight", name), out, in,
                             gain / sqrt((double)in));
    if (bias)
        *bias = weights_add(w, arena_printf(w->arena, "%s.bias", name), 1, &out, shift, 0);
}

struct norm_options block_norm_options(const struct model_config *c)
{
    return (struct norm_options){(enum norm_kind)c->norm, c->bias, c->norm_eps};
}

static enum mlp_activation mlp_activation(const struct model_config *c)
{
    static const enum mlp_activation of[] = {[ACTIVATION_GELU] = MLP_GELU,
                                             [ACTIVATION_GELU_TANH] = MLP_GELU_TANH,
                                             [ACTIVATION_RELU] = MLP_RELU,
                                             [ACTIVATION_SWIGLU] = MLP_SWIGLU,
                                             [ACTIVATION_GEGLU] = MLP_GEGLU};
    return of[c->activation];
}

int64_t block_width(const struct model_config *c)
{
    if (c->d_ff > 0)
        return c->d_ff;
    /* Three matrices then have about as many numbers as two with 4 d_model: Touvron et al. 2023
     * (arXiv:2302.13971), section 2.2. */
    return mlp_is_gated(mlp_activation(c)) ? (c->d_model + 2) / 3 * 8 : 4 * c->d_model;
}

/* State for declaring the weights of one layer. */
struct place_of_layer {
    struct weights *w;
    const struct block_stack *stack;
    const struct model_config *config;
    int64_t layer;
};

/* "<prefix>block.<layer>.<part>" */
static const char *part_name(const struct place_of_layer *p, const char *part)
{
    return arena_printf(p->w->arena, "%sblock.%lld.%s", p->stack->prefix, (long long)p->layer,
                        part);
}

static void linear_declare(const struct place_of_layer *p, const char *part, int64_t out,
                           int64_t in, double gain, struct weight **weight, struct weight **bias)
{
    affine_declare(p->w, part_name(p, part), out, in, gain, (peat_init){.kind = PEAT_INIT_ZERO},
                   weight, p->config->bias ? bias : NULL);
}

static void conv_declare(const struct place_of_layer *p, int64_t width, double residual,
                         struct mixer_weights *m)
{
    int64_t D = p->stack->D;
    linear_declare(p, "conv.in", 3 * D, D, 1.0, &m->in_w, &m->in_b);
    m->taps = matrix_declare(p->w, part_name(p, "conv.taps"), width, D, 1.0 / sqrt((double)width));
    linear_declare(p, "conv.out", D, D, residual, &m->out_w, &m->out_b);
}

static void rnn_declare(const struct place_of_layer *p, int64_t T, double residual,
                        struct mixer_weights *m)
{
    int64_t D = p->stack->D;
    peat_init spread = {.kind = PEAT_INIT_UNIFORM, .b = log((double)T)};
    linear_declare(p, "rnn.in", 2 * D, D, 1.0, &m->in_w, &m->in_b);
    affine_declare(p->w, part_name(p, "rnn.forget"), D, D, 1.0, spread, &m->forget_w, &m->forget_b);
    linear_declare(p, "rnn.out", D, D, residual, &m->out_w, &m->out_b);
}

static struct norm_weights layer_norm_declare(const struct place_of_layer *p, const char *part)
{
    const struct norm_options o = block_norm_options(p->config);
    return norm_declare(p->w, part_name(p, part), p->stack->D, &o);
}

/* part: "attention" or "cross" */
static void attention_declare(const struct place_of_layer *p, const char *part, double residual,
                              struct attention_weights *a)
{
    const int64_t D = p->stack->D, C = D / p->config->n_head;
    struct norm_options o = block_norm_options(p->config);
    struct arena *names = p->w->arena;
    linear_declare(p, arena_printf(names, "%s.qkv", part), 3 * D, D, 1.0, &a->qkv_w, &a->qkv_b);
    linear_declare(p, arena_printf(names, "%s.out", part), D, D, residual, &a->out_w, &a->out_b);
    if (p->config->qk_norm == QK_NORM_NONE)
        return;
    o.kind = p->config->qk_norm == QK_NORM_RMS ? NORM_RMS : NORM_LAYER;
    a->q_norm = norm_declare(p->w, part_name(p, arena_printf(names, "%s.q_norm", part)), C, &o);
    a->k_norm = norm_declare(p->w, part_name(p, arena_printf(names, "%s.k_norm", part)), C, &o);
}

void block_declare(struct block *b, struct weights *w, const struct model_config *c,
                   const struct block_stack *stack, int64_t layer)
{
    /* Outputs to the residual stream have smaller weights, so that its variance stays near 1 at any
     * depth: Radford et al. 2019, section 2.3. */
    double residual = 1.0 / sqrt((stack->crosses ? 3.0 : 2.0) * (double)stack->n_layer);
    const enum mlp_activation f = mlp_activation(c);
    const int64_t F = block_width(c), U = mlp_is_gated(f) ? 2 * F : F, D = stack->D;
    const struct place_of_layer p = {w, stack, c, layer};
    b->norm1 = layer_norm_declare(&p, "norm1");
    if (c->mixer == MIXER_CONV) {
        conv_declare(&p, c->conv_width, residual, &b->mixer);
    } else if (c->mixer == MIXER_RNN) {
        rnn_declare(&p, c->T_train, residual, &b->mixer);
    } else {
        attention_declare(&p, "attention", residual, &b->attention);
    }
    if (stack->crosses) {
        b->norm_cross = layer_norm_declare(&p, "norm_cross");
        attention_declare(&p, "cross", residual, &b->cross);
    }
    b->norm2 = layer_norm_declare(&p, "norm2");
    linear_declare(&p, "mlp.up", U, D, 1.0, &b->up_w, &b->up_b);
    linear_declare(&p, "mlp.down", D, F, residual, &b->down_w, &b->down_b);
}

peat_node *pass_dropout(struct pass *pass, peat_node *x, double p, const char *place, int64_t layer)
{
    if (p == 0.0 || pass->phase != PEAT_TRAIN)
        return x;
    uint64_t stream = rng_stream(pass->seed, pass->drops, place);
    stream = rng_substream(rng_substream(stream, (uint64_t)layer), (uint64_t)pass->step);
    return op_dropout(&pass->g->base, x, p, stream);
}

static peat_node *run_residual(struct pass *pass, int64_t layer, peat_node *x)
{
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = &pass->positional->scheme[i];
        if (!where_acts(&s->where, layer))
            continue;
        if (s->hooks->encode && s->where.at == SITE_RESIDUAL)
            x = pass->merge(pass, i, x);
        if (!s->hooks->residual)
            continue;
        struct call c;
        call_init(&c, pass, i, layer);
        int64_t reach = scheme_reach(s);
        struct tensor *kept = pass->stored ? &pass->stored->layer[layer].residual[i] : NULL;
        peat_node *seen = stored_reach(pass, kept, front_cut(pass, x, 1), reach);
        stored_reach_call(&c, pass, reach);
        const int64_t dim[] = {pass->B, c.base.q->T, pass->dims.D};
        hook_begin(&c, HOOK_RESIDUAL);
        peat_node *out = hook_end(pass, s->hooks->residual(&c.base, seen), 3, dim, 0);
        x = front_join(pass, x, stored_newest(pass, out), 1);
    }
    return x;
}

/* Whether a later layer sees the nodes of the scheme's state. */
static bool is_carried_on(const struct pass *pass, const struct scheme_part *s, int64_t layer)
{
    while (++layer < pass->dims.L)
        if (where_acts(&s->where, layer))
            return true;
    return false;
}

/* x: the input of the layer's MLP. */
static void run_carry(struct pass *pass, int64_t layer, peat_node *x)
{
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = &pass->positional->scheme[i];
        peat_node *W = pass->weights[i];
        pass->weights[i] = NULL;
        if (!s->hooks->carry || !pass_has(pass, s) || !where_acts(&s->where, layer) ||
            !is_carried_on(pass, s, layer))
            continue;
        struct call c;
        call_init(&c, pass, i, layer);
        hook_begin(&c, HOOK_CARRY);
        hook_status(pass, s->hooks->carry(&c.base, front_cut(pass, x, 1), front_cut_pairs(pass, W),
                                          pass->shared[i]));
    }
}

static peat_node *mlp(struct pass *pass, const struct block *b, const struct model_config *c,
                      peat_node *x)
{
    struct graph *g = pass->g;
    return op_mlp(&g->base, x, weight_node(g, b->up_w), weight_node(g, b->up_b),
                  weight_node(g, b->down_w), weight_node(g, b->down_b), mlp_activation(c));
}

/* The attention part of the model's configuration. */
static struct attention_options attention_options(const struct model_config *c)
{
    return (struct attention_options){
        .path = (enum attention_path)c->attention_path,
        .scale = (enum attention_scale)c->attention_scale,
        .scale_value = c->attention_scale_value,
    };
}

/* The input of a part: norm(x) if norms are before parts, otherwise x. */
static peat_node *part_input(struct pass *pass, const struct model_config *c,
                             const struct norm_weights *n, const char *place, int64_t layer,
                             peat_node *x)
{
    if (c->norm_place != NORM_BEFORE)
        return x;
    return pass_seen(pass, place, layer, norm_forward(pass->g, n, x));
}

/* x plus the output y of a part; the sum is normed if norms are after parts. */
static peat_node *part_added(struct pass *pass, const struct model_config *c,
                             const struct norm_weights *n, peat_node *x, peat_node *y,
                             const char *place, int64_t layer)
{
    x = op_add(&pass->g->base, x, pass_dropout(pass, y, c->dropout, place, layer));
    return c->norm_place == NORM_AFTER ? norm_forward(pass->g, n, x) : x;
}

peat_node *block_forward(struct pass *pass, const struct block *b, const struct model_config *c,
                         const struct crossing *crossing, int64_t layer, peat_node *x)
{
    const struct attention_options options = attention_options(c);
    x = pass_seen(pass, "stream", layer, run_residual(pass, layer, x));
    peat_node *y = part_input(pass, c, &b->norm1, "norm1", layer, x);
    y = c->mixer == MIXER_ATTENTION
            ? attention_forward(pass, &b->attention, &options, layer, y, NULL)
            : mixer_forward(pass, &b->mixer, (enum mixer)c->mixer, layer, y);
    x = part_added(pass, c, &b->norm1, x, y, "attention", layer);
    if (crossing) {
        y = part_input(pass, c, &b->norm_cross, "norm_cross", layer, x);
        y = attention_forward(crossing->pass, &b->cross, &options, layer, y, crossing->memory);
        x = part_added(pass, c, &b->norm_cross, x, y, "cross", layer);
    }
    y = part_input(pass, c, &b->norm2, "norm2", layer, x);
    run_carry(pass, layer, y);
    return part_added(pass, c, &b->norm2, x, mlp(pass, b, c, y), "mlp", layer);
}
