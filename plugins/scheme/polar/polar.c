/* SPDX-License-Identifier: MIT */
/*
 * polar.c: the lengths of the components of a query or key carry its content, their angles its
 * position (PoPE). Gopalakrishnan et al. 2025.
 */
#include <math.h>

#include "../rotation.h"

enum { ZERO, UNIFORM };

struct config {
    int64_t init;
    double base;
};

static const char *const inits[] = {"zero", "uniform", NULL};

static const peat_param rows[] = {
    {"init", PEAT_ENUM, offsetof(struct config, init), .preset = ZERO, .labels = inits,
     .doc = "start of the keys' phases: 0, or uniform in [-2 pi, 0)"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static void turn_row(const void *config, const double *pos, double *out, int64_t d)
{
    rotation_row(((const struct config *)config)->base, pos[0], out, d);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const double turn = 2 * acos(-1);
    bool spread = ((const struct config *)config)->init == UNIFORM;
    peat_init init = {.kind = spread ? PEAT_INIT_UNIFORM : PEAT_INIT_ZERO, .a = -turn, .b = 0};
    (void)self;
    int32_t phase = peat_param_new(s, "phase", 2, (int64_t[]){PEAT_HEADS, s->dims.C}, init,
                                   PEAT_PER_USER, PEAT_NO_DECAY);
    peat_bound(s, phase, -turn, 0);
    return PEAT_OK;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    rotation_turns(c, c->q, c->dims.C, turn_row, shared);
    rotation_turns(c, c->k, c->dims.C, turn_row, shared + 2);
    return PEAT_OK;
}

/* q' = s(q) (cos a, sin a), k' = s(k) (cos(a + phase), sin(a + phase)), s = softplus: vectors at
 * angle 0 and at the phase, then turned. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t C = peat_shape_of(c->g, io->q).dim[3];
    if (C != c->dims.C) {
        peat_fail(c->g, "phases are for heads of width %lld: where.dims cannot narrow them",
                  (long long)c->dims.C);
        return PEAT_FAILED;
    }
    peat_node *phase = peat_reshape(c->g, peat_use(c, 0), 4, (int64_t[]){1, c->H, 1, C});
    peat_node *q = peat_pad(c->g, peat_softplus(c->g, io->q), -1, 0, C);
    peat_node *k = peat_softplus(c->g, io->k);
    peat_node *part[] = {peat_mul(c->g, k, peat_cos(c->g, phase)),
                         peat_mul(c->g, k, peat_sin(c->g, phase))};
    k = peat_concat(c->g, 2, part, -1);
    io->q = peat_rotate(c->g, q, c->shared[0], c->shared[1], PEAT_HALVES);
    io->k = peat_rotate(c->g, k, c->shared[2], c->shared[3], PEAT_HALVES);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "polar", "1.0",
            "content is the length of components, position their angle", "MIT", "arXiv:2509.10534")
