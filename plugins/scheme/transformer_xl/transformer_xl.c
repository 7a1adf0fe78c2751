/* SPDX-License-Identifier: MIT */
/*
 * transformer_xl.c: queries also meet a projected sinusoid of the distance, and two trained vectors
 * stand in for the query's own position. Dai et al. 2019, section 3.3.
 */
#include <math.h>

#include <peat/plugin.h>

#include "../relative.h"

enum { U, V, W_R };
enum { INDEX, R };

struct config {
    double init_std, base;
};

static const peat_param rows[] = {
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial u and v"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the sinusoid's longest wavelength to its shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const int64_t dim[] = {PEAT_HEADS, s->dims.C, s->dims.D};
    (void)self;
    peat_init vector = {.kind = PEAT_INIT_NORMAL, .b = ((const struct config *)config)->init_std};
    peat_init matrix = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)s->dims.D)};
    peat_param_new(s, "u", 2, dim, vector, PEAT_PER_USER, PEAT_NO_DECAY);
    peat_param_new(s, "v", 2, dim, vector, PEAT_PER_USER, PEAT_NO_DECAY);
    peat_param_new(s, "w_r", 3, dim, matrix, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* [sin(w_i d) | cos(w_i d)], w_i = base^(-2i/D), of a distance; the last channel of an odd D is 0
 */
static void sinusoid(const void *config, const double *distance, double *out, int64_t D)
{
    double base = ((const struct config *)config)->base;
    int64_t n = D / 2;
    out[D - 1] = 0;
    for (int64_t i = 0; i < n; i++) {
        double angle = distance[0] * pow(base, -2 * (double)i / (double)D);
        out[i] = sin(angle);
        out[n + i] = cos(angle);
    }
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    return relative_rows(c, c->dims.D, sinusoid, &shared[INDEX], &shared[R]);
}

/* W_R r for the heads of the call: [1,H,R,C] */
static peat_node *projected(const peat_call *c)
{
    int64_t n = peat_shape_of(c->g, c->shared[R]).dim[1], C = c->dims.C;
    peat_node *w = peat_reshape(c->g, peat_use(c, W_R), 2, (int64_t[]){c->H * C, c->dims.D});
    peat_node *r = peat_matmul(c->g, c->shared[R], w, PEAT_TRANS_B);
    r = peat_reshape(c->g, r, 4, (int64_t[]){1, n, c->H, C});
    return peat_permute(c->g, r, 4, (int32_t[]){0, 2, 1, 3});
}

/* (q_i + v) . W_R r_{i-j} + u . k_j; q_i . k_j is the host's */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    int64_t C = c->dims.C;
    peat_node *u = peat_reshape(c->g, peat_use(c, U), 4, (int64_t[]){1, c->H, C, 1});
    peat_node *v = peat_reshape(c->g, peat_use(c, V), 4, (int64_t[]){1, c->H, 1, C});
    peat_node *q = peat_add(c->g, p->q, v);
    peat_node *position = peat_matmul_take(c->g, q, projected(c), PEAT_TRANS_B, c->shared[INDEX]);
    peat_node *key = peat_matmul(c->g, p->k, u, 0);
    key = peat_permute(c->g, key, 4, (int32_t[]){0, 1, 3, 2});
    return peat_add(c->g, position, key);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "transformer_xl", "1.0",
            "queries meet keys and a projected sinusoid of the distance", "MIT", "arXiv:1901.02860")
