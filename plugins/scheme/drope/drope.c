/* SPDX-License-Identifier: MIT */
/*
 * drope.c: queries and keys turn with their position for a number of steps of training, and then no
 * more. Gelberg et al. 2025.
 */
#include <peat/call.h>

#include "../rotation.h"

struct config {
    int64_t layout; /* peat_layout */
    int64_t after;
    double base;
};

static const peat_param rows[] = {
    {"after", PEAT_INT, offsetof(struct config, after), .min = 1, .max = INT64_C(1) << 40,
     .unit = "steps", .doc = "steps of training with positions; those that follow have none",
     .flags = PEAT_REQUIRED},
    ROTATION_LAYOUT_ROW(struct config),
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    if (!peat_call_facts_of(s->host))
        return peat_refuse(s, "this PEAT lacks %s, which says how long a model was trained",
                           PEAT_CALL_FACTS);
    return rotation_needs_pairs(s);
}

/* A model is evaluated as the last step trained it. */
static bool dropped(const peat_call *c)
{
    int64_t after = ((const struct config *)c->config)->after;
    return peat_call_facts_of(c->host)->trained_step(c) > after;
}

static void turn_row(const void *config, const double *pos, double *out, int64_t d)
{
    rotation_row(((const struct config *)config)->base, pos[0], out, d);
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    if (dropped(c))
        return PEAT_OK;
    rotation_turns(c, c->q, c->dims.C / 2, turn_row, shared);
    rotation_turns(c, c->k, c->dims.C / 2, turn_row, shared + 2);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_layout layout = (peat_layout)((const struct config *)c->config)->layout;
    if (dropped(c))
        return PEAT_OK;
    io->q = peat_turned(c, io->q, c->shared[0], c->shared[1], layout);
    io->k = peat_turned(c, io->k, c->shared[2], c->shared[3], layout);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_NO_TRAINABLE |
              PEAT_NEEDS_CAUSAL,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "drope", "1.0",
            "rotary positions that are dropped after some steps of training", "MIT",
            "arXiv:2512.12167")
