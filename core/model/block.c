/* SPDX-License-Identifier: MIT */
/* block.c: x += attention(norm1(x)); x += mlp(norm2(x)). */
#include "model/block.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "nn/front.h"

struct norm_weights norm_declare(struct weights *w, const char *name, int64_t D, int64_t kind)
{
    struct norm_weights n = {0};
    char full[64];
    snprintf(full, sizeof(full), "%s.weight", name);
    n.w = weights_add(w, full, 1, &D, (peat_init){.kind = PEAT_INIT_CONSTANT, .a = 1.0}, 0);
    if (kind == NORM_RMS)
        return n;
    snprintf(full, sizeof(full), "%s.bias", name);
    n.b = weights_add(w, full, 1, &D, (peat_init){.kind = PEAT_INIT_ZERO}, 0);
    return n;
}

peat_node *norm_forward(struct graph *g, const struct norm_weights *n, peat_node *x)
{
    peat_node *w = weight_node(g, n->w);
    if (!n->b)
        return op_rmsnorm(&g->base, x, w, NORM_EPS);
    return op_layernorm(&g->base, x, w, weight_node(g, n->b), NORM_EPS);
}

/* "block.<layer>.<part>": weight [out, in] from N(0, gain / sqrt(in)), bias [out] zero */
static void linear_declare(struct weights *w, int64_t layer, const char *part, int64_t out,
                           int64_t in, double gain, struct weight **weight, struct weight **bias)
{
    char full[64];
    peat_init normal = {.kind = PEAT_INIT_NORMAL, .b = gain / sqrt((double)in)};
    snprintf(full, sizeof(full), "block.%lld.%s.weight", (long long)layer, part);
    *weight = weights_add(w, full, 2, (int64_t[]){out, in}, normal, 0);
    snprintf(full, sizeof(full), "block.%lld.%s.bias", (long long)layer, part);
    *bias = weights_add(w, full, 1, &out, (peat_init){.kind = PEAT_INIT_ZERO}, 0);
}

void block_declare(struct block *b, struct weights *w, const struct model_config *c, int64_t D,
                   int64_t layer)
{
    /* Outputs onto the residual stream are smaller, so that its variance stays near 1 at any
     * depth: Radford et al. 2019, section 2.3. */
    double residual = 1.0 / sqrt(2.0 * (double)c->n_layer);
    int64_t F = c->d_ff > 0 ? c->d_ff : 4 * c->d_model;
    char norm[64];
    struct attention_weights *a = &b->attention;
    snprintf(norm, sizeof(norm), "block.%lld.norm1", (long long)layer);
    b->norm1 = norm_declare(w, norm, D, c->norm);
    linear_declare(w, layer, "attention.qkv", 3 * D, D, 1.0, &a->qkv_w, &a->qkv_b);
    linear_declare(w, layer, "attention.out", D, D, residual, &a->out_w, &a->out_b);
    snprintf(norm, sizeof(norm), "block.%lld.norm2", (long long)layer);
    b->norm2 = norm_declare(w, norm, D, c->norm);
    linear_declare(w, layer, "mlp.up", F, D, 1.0, &b->up_w, &b->up_b);
    linear_declare(w, layer, "mlp.down", D, F, residual, &b->down_w, &b->down_b);
}

peat_node *pass_dropout(struct pass *pass, peat_node *x, double p, const char *place, int64_t layer)
{
    if (p == 0.0 || pass->phase != PEAT_TRAIN)
        return x;
    uint64_t stream = rng_stream(pass->seed, "dropout", place);
    stream = rng_substream(rng_substream(stream, (uint64_t)layer), (uint64_t)pass->step);
    return op_dropout(&pass->g->base, x, p, stream);
}

static peat_node *run_residual(struct pass *pass, int64_t layer, peat_node *x)
{
    const int64_t dim[] = {pass->B, pass->side.T, pass->dims.D};
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
        peat_node *seen = front_cut(pass, x, 1);
        hook_begin(&c, HOOK_RESIDUAL);
        peat_node *out = hook_end(pass, s->hooks->residual(&c.base, seen), 3, dim, 0);
        x = front_join(pass, x, out, 1);
    }
    return x;
}

static peat_node *mlp(struct pass *pass, const struct block *b, int64_t activation, peat_node *x)
{
    struct graph *g = pass->g;
    enum mlp_activation f = activation == ACTIVATION_RELU        ? MLP_RELU
                            : activation == ACTIVATION_GELU_TANH ? MLP_GELU_TANH
                                                                 : MLP_GELU;
    return op_mlp(&g->base, x, weight_node(g, b->up_w), weight_node(g, b->up_b),
                  weight_node(g, b->down_w), weight_node(g, b->down_b), f);
}

struct attention_options block_attention_options(const struct model_config *c)
{
    return (struct attention_options){
        .path = (enum attention_path)c->attention_path,
        .scale = (enum attention_scale)c->attention_scale,
        .scale_value = c->attention_scale_value,
    };
}

void pass_show_residual(struct pass *pass, int64_t layer, peat_node *x)
{
    const struct observer *o = pass->observer;
    if (o && o->residual && x && !graph_failed(pass->g))
        o->residual(o->ctx, layer, x);
}

peat_node *block_forward(struct pass *pass, const struct block *b, const struct model_config *c,
                         int64_t layer, peat_node *x)
{
    struct graph *g = pass->g;
    const struct attention_options options = block_attention_options(c);
    x = run_residual(pass, layer, x);
    pass_show_residual(pass, layer, x);
    peat_node *y = norm_forward(g, &b->norm1, x);
    y = attention_forward(pass, &b->attention, &options, layer, y, NULL);
    x = op_add(&g->base, x, pass_dropout(pass, y, c->dropout, "attention", layer));
    y = mlp(pass, b, c->activation, norm_forward(g, &b->norm2, x));
    return op_add(&g->base, x, pass_dropout(pass, y, c->dropout, "mlp", layer));
}
