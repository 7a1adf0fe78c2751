/* SPDX-License-Identifier: MIT */
/* tape_equivariant.c: queries and keys turn as in rotary, and from layer to layer as their tokens
 * and what these attend to say. Zhu et al. 2025, section 3, with the authors' code. */
#include "../rotation.h"

enum { GAIN, UP, GATE, DOWN };

struct config {
    int64_t width;
    double base;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .preset = 48, .min = 1, .max = 1 << 16,
     .doc = "hidden units through which the heads' turns are mixed"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* A row for each layer but the last. Where `gain` and `up` are 0, all layers turn as the first. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init zero = {.kind = PEAT_INIT_ZERO}, normal = {.kind = PEAT_INIT_NORMAL, .b = 0.02};
    int64_t L = s->dims.L - 1, n = ((const struct config *)config)->width;
    (void)self;
    if (L > 0) {
        peat_param_new(s, "gain", 4, (int64_t[]){L, PEAT_HEADS, 1, 1}, zero, PEAT_ONCE, 0);
        peat_param_new(s, "up", 3, (int64_t[]){L, n, PEAT_HEADS}, zero, PEAT_ONCE, 0);
        peat_param_new(s, "gate", 3, (int64_t[]){L, n, s->dims.D}, normal, PEAT_ONCE, 0);
        peat_param_new(s, "down", 3, (int64_t[]){L, PEAT_HEADS, n}, normal, PEAT_ONCE, 0);
    }
    return rotation_needs_pairs(s);
}

static void turn_row(const void *config, const double *pos, double *out, int64_t d)
{
    rotation_row(((const struct config *)config)->base, pos[0], out, d);
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    shared[0] = rotation_rows(c, c->q, c->dims.C, turn_row);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *cosine = peat_slice(c->g, c->shared[0], -1, 0, c->dims.C / 2);
    peat_node *sine = peat_slice(c->g, c->shared[0], -1, c->dims.C / 2, c->dims.C);
    io->q = peat_turned(c, io->q, cosine, sine, PEAT_HALVES);
    io->k = peat_turned(c, io->k, cosine, sine, PEAT_HALVES);
    return PEAT_OK;
}

static peat_node *of_layer(const peat_call *c, int32_t tensor)
{
    return peat_slice(c->g, peat_use(c, tensor), 0, c->layer, c->layer + 1);
}

/* e + gain W e, then e + down (silu(gate x) up e), e the cosines and sines [B,H,T,C]. Both get the
 * same factors, so turning all positions alike changes no product of a query and a key. */
static peat_status carry(const peat_call *c, peat_node *x, peat_node *W,
                         peat_node *state[PEAT_MAX_SHARED])
{
    const int64_t dim[] = {c->B, -1, c->q->T, c->dims.C}, flat[] = {c->B, -1, dim[2] * dim[3]};
    peat_node *z = peat_matmul(c->g, x, of_layer(c, GATE), PEAT_TRANS_B);
    peat_node *gate = peat_of_queries(c->g, peat_mul(c->g, z, peat_sigmoid(c->g, z)));
    peat_node *seen = peat_mul(c->g, of_layer(c, GAIN), peat_matmul(c->g, W, state[0], 0));
    peat_node *e = peat_add(c->g, state[0], seen), *u = peat_reshape(c->g, e, 3, flat);
    u = peat_reshape(c->g, peat_matmul(c->g, of_layer(c, UP), u, 0), 4, dim);
    u = peat_reshape(c->g, peat_mul(c->g, u, gate), 3, flat);
    u = peat_matmul(c->g, of_layer(c, DOWN), u, 0);
    state[0] = peat_add(c->g, e, peat_reshape(c->g, u, 4, dim));
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_W,
    .traits = PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
    .carry = carry,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "tape_equivariant", "1.0",
            "turns that change from layer to layer with the tokens", "MIT", "arXiv:2501.00712")
