/* SPDX-License-Identifier: MIT */
/*
 * dape.c: a small network over all heads adapts the bias of other schemes to the scores.
 * Zheng et al. 2024.
 */
#include <math.h>

#include <peat/plugin.h>

enum { W_SCORE, W_BIAS, B1, W2 };

struct config {
    int64_t width;
    double slope;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .preset = 32, .min = 1, .max = 1 << 12,
     .doc = "hidden units of the network"},
    {"slope", PEAT_REAL, offsetof(struct config, slope), .preset = 0.01, .min = 0, .max = 1,
     .doc = "slope of the leaky ReLU below 0"},
    PEAT_PARAM_END,
};

/* The network's last layer has no shift: softmax would cancel it. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t width = ((const struct config *)config)->width;
    double in = 1 / sqrt(2 * (double)s->dims.H), hidden = 1 / sqrt((double)width);
    (void)self;
    peat_init first = {.kind = PEAT_INIT_UNIFORM, .a = -in, .b = in};
    peat_init last = {.kind = PEAT_INIT_UNIFORM, .a = -hidden, .b = hidden};
    const int64_t up[] = {width, PEAT_HEADS}, down[] = {PEAT_HEADS, width}, shift[] = {width, 1};
    peat_param_new(s, "w_score", 2, up, first, PEAT_PER_LAYER, 0);
    peat_param_new(s, "w_bias", 2, up, first, PEAT_PER_LAYER, 0);
    peat_param_new(s, "b1", 2, shift, first, PEAT_PER_LAYER, PEAT_NO_DECAY);
    peat_param_new(s, "w2", 2, down, last, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* x [n,H,Tq,Tk] through w [width,H]: [n,width,Tq*Tk] */
static peat_node *over_heads(const peat_call *c, peat_node *x, int32_t w)
{
    int64_t n = peat_shape_of(c->g, x).dim[0];
    x = peat_reshape(c->g, x, 3, (int64_t[]){n, c->H, c->q->T * c->k->T});
    return peat_matmul(c->g, peat_use(c, w), x, 0);
}

/* S + B + W2 leaky(W1 [S | B] + b1) at each pair; W1's halves are separate, so that a bias common
 * to the batch is projected once. */
static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    (void)p;
    if (!bias)
        return peat_fail(c->g, "there is no bias to adapt: list 'dape' with a scheme that adds "
                               "one in the same layers, such as [kerple, dape]");
    int64_t n = peat_shape_of(c->g, bias).dim[0];
    const int64_t dim[] = {n, c->H, c->q->T, c->k->T};
    bias = peat_expand(c->g, bias, 4, dim);
    peat_node *x = peat_add(c->g, over_heads(c, S, W_SCORE), over_heads(c, bias, W_BIAS));
    x = peat_add(c->g, x, peat_use(c, B1));
    double slope = ((const struct config *)c->config)->slope;
    x = peat_maximum(c->g, x, peat_scale(c->g, x, slope));
    x = peat_matmul(c->g, peat_use(c, W2), x, 0);
    x = peat_reshape(c->g, x, 4, (int64_t[]){c->B, c->H, c->q->T, c->k->T});
    return peat_add(c->g, peat_add(c->g, S, bias), x);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_BIAS | PEAT_MIXES_HEADS,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .logits = logits,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "dape", "1.0",
            "a network over all heads adapts another scheme's bias", "MIT", "arXiv:2405.14722")
