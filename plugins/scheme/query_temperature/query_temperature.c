/* SPDX-License-Identifier: MIT */
/*
 * query_temperature.c: queries grow with the logarithm of their position, so that attention over
 * more keys stays as sharp. Llama 4 (attn_temperature_tuning), in its layers without rotary.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t floor;
    double scale;
};

static const peat_param rows[] = {
    {"floor", PEAT_INT, offsetof(struct config, floor), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "queries before this position stay as they are, and steps are as long",
     .flags = PEAT_AUTO},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .preset = 0.1, .min = 0, .max = 1e3,
     .doc = "growth per unit of the logarithm"},
    PEAT_PARAM_END,
};

struct query_temperature {
    double floor;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t given = ((const struct config *)config)->floor;
    struct query_temperature *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->floor = (double)(given ? given : s->dims.T_train);
    peat_resolved(s, "floor", t->floor);
    *self = t;
    return PEAT_OK;
}

/* 1 + scale log(1 + floor((p + 1) / floor)) of each query: [pos_B, 1, T, 1] */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const struct query_temperature *t = c->self;
    int64_t n = c->q->pos_B * c->q->T;
    double scale = ((const struct config *)c->config)->scale, *by = peat_scratch(c, n);
    for (int64_t i = 0; by && i < n; i++) {
        double steps = floor((c->q->pos[i] + 1) / t->floor);
        by[i] = 1 + scale * log1p(fmax(steps, 0));
    }
    shared[0] = peat_fill(c, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1}, by);
    peat_probe(c, "factor", shared[0]);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->q = peat_mul(c->g, io->q, c->shared[0]);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "query_temperature", "1.0",
            "queries grow with the logarithm of their position", "MIT", "arXiv:2501.19399")
