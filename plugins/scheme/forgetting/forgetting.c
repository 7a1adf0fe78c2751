/* SPDX-License-Identifier: MIT */
/*
 * forgetting.c: every token closes a gate on what came before it by an amount of its own.
 * Lin et al. 2025.
 */
#include <math.h>

#include <peat/plugin.h>

enum { WEIGHT, SHIFT };

struct config {
    double init_shift;
};

static const peat_param rows[] = {
    {"init_shift", PEAT_REAL, offsetof(struct config, init_shift), .preset = 0, .min = -1e2,
     .max = 1e2, .unit = "logits",
     .doc = "start of each head's gate: 0 keeps half per token, 5 all but one in 150"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)self;
    peat_init weight = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)s->dims.D)};
    peat_init shift = {.kind = PEAT_INIT_CONSTANT,
                       .a = ((const struct config *)config)->init_shift};
    const int64_t dim[] = {PEAT_HEADS, s->dims.D};
    peat_param_new(s, "weight", 2, dim, weight, PEAT_PER_LAYER, 0);
    peat_param_new(s, "shift", 1, dim, shift, PEAT_PER_LAYER, PEAT_NO_DECAY);
    return PEAT_OK;
}

/* F_j = sum over t <= j of log sigmoid(w x_t + b). The bias F_i - F_j of a pair loses F_i, common
 * to all keys of a query: [B,H,1,Tk] suffices. */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *gate = peat_matmul(c->g, c->x_k, peat_use(c, WEIGHT), PEAT_TRANS_B);
    gate = peat_log_sigmoid(c->g, peat_add(c->g, gate, peat_use(c, SHIFT)));
    peat_probe(c, "log_gate", gate);
    return peat_of_keys(c->g, peat_scale(c->g, peat_cumsum(c->g, gate, 1, false), -1));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_X,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL,
    .setup = setup,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "forgetting", "1.0",
            "every token closes a gate on what came before it", "MIT", "arXiv:2503.02130")
