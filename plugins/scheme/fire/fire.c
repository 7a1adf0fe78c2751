/* SPDX-License-Identifier: MIT */
/*
 * fire.c: a small network turns the distance, relative to how far the query stands, into logits.
 * Li et al. 2024, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

enum { C, THRESHOLD, W1, B1, W2 };

struct config {
    int64_t width;
    double init_c, init_threshold;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .preset = 32, .min = 1, .max = 1 << 16,
     .doc = "hidden units of the network"},
    {"init_c", PEAT_REAL, offsetof(struct config, init_c), .preset = 0.1, .min = 1e-6, .max = 1e6,
     .unit = "per token", .doc = "start of c in psi(x) = log(c x + 1)"},
    {"init_threshold", PEAT_REAL, offsetof(struct config, init_threshold), .min = 1e-3, .max = 1e9,
     .automatic = "a quarter of the longest sequence trained", .unit = "tokens",
     .doc = "start of L, below which the query's position does not count", .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

struct fire {
    double threshold; /* initial L */
};

/* The network's last layer has no bias: softmax would cancel it. L is trained as a factor of its
 * initial value, so that one rate of learning suits both. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct fire *f = peat_alloc(s, sizeof(*f));
    if (!f)
        return PEAT_NOMEM;
    f->threshold = k->init_threshold > 0 ? k->init_threshold : (double)s->dims.T_train / 4;
    peat_resolved(s, "init_threshold", f->threshold);
    const peat_init c = {.kind = PEAT_INIT_CONSTANT, .a = k->init_c};
    const peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1};
    const peat_init first = {.kind = PEAT_INIT_UNIFORM, .a = -1, .b = 1};
    const double r = 1 / sqrt((double)k->width);
    const peat_init last = {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r};
    const int64_t scalar[] = {1}, out[] = {PEAT_HEADS, k->width};
    peat_bound(s, peat_param_new(s, "c", 1, scalar, c, PEAT_PER_USER, PEAT_NO_DECAY), 1e-6, 1e6);
    peat_bound(s, peat_param_new(s, "threshold", 1, scalar, one, PEAT_PER_USER, PEAT_NO_DECAY),
               1e-3, 1e3);
    peat_param_new(s, "w1", 1, &k->width, first, PEAT_PER_USER, 0);
    peat_param_new(s, "b1", 1, &k->width, first, PEAT_PER_USER, PEAT_NO_DECAY);
    peat_param_new(s, "w2", 2, out, last, PEAT_PER_USER, 0);
    *self = f;
    return PEAT_OK;
}

/* log(c x + 1) */
static peat_node *psi(const peat_call *c, peat_node *x)
{
    return peat_log1p(c->g, peat_mul(c->g, peat_use(c, C), x));
}

/* psi(|i - j|) / psi(max(i, L)): [1|B, 1, Tq, Tk] */
static peat_node *share(const peat_call *c)
{
    const struct fire *f = c->self;
    peat_node *i = peat_pos(c, c->q, 0);
    i = peat_reshape(c->g, i, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1});
    peat_node *threshold = peat_scale(c->g, peat_use(c, THRESHOLD), f->threshold);
    peat_node *distance = peat_abs(c->g, peat_delta(c, 0));
    return peat_div(c->g, psi(c, distance), psi(c, peat_maximum(c->g, i, threshold)));
}

/* w2 relu(w1 x + b1), one logit per head for every pair */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *x = share(c);
    int64_t B = peat_shape_of(c->g, x).dim[0], pairs = c->q->T * c->k->T;
    const int64_t column[] = {((const struct config *)c->config)->width, 1};
    peat_node *w1 = peat_reshape(c->g, peat_use(c, W1), 2, column);
    peat_node *b1 = peat_reshape(c->g, peat_use(c, B1), 2, column);
    x = peat_reshape(c->g, x, 3, (int64_t[]){B, 1, pairs});
    peat_node *hidden = peat_add(c->g, peat_mul(c->g, w1, x), b1);
    peat_node *logit = peat_matmul(c->g, peat_use(c, W2), peat_relu(c->g, hidden), 0);
    return peat_reshape(c->g, logit, 4, (int64_t[]){B, c->H, c->q->T, c->k->T});
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE,
    .setup = setup,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "fire", "1.0",
            "a network of the distance relative to the query's position", "MIT", "arXiv:2310.04418")
