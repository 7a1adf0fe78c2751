/* SPDX-License-Identifier: MIT */
/*
 * tapa.c: a part of each head gives the size of the logit, the rest a phase that is multiplied by a
 * power of the distance. Wang et al. 2025, eq. 12.
 */
#include "../relative.h"

struct config {
    double alpha, theta;
};

static const peat_param rows[] = {
    {"alpha", PEAT_REAL, offsetof(struct config, alpha), .preset = 0.1, .min = 0, .max = 4,
     .doc = "the phase is multiplied by the distance to this power", .flags = PEAT_OPEN_MIN},
    {"theta", PEAT_REAL, offsetof(struct config, theta), .preset = 0.5, .min = 0, .max = 1,
     .doc = "part of each head, its first dimensions, that is amplitude; the rest is phase",
     .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* Dimensions of a head of width C that are amplitude. */
static int64_t amplitude(const void *config, int64_t C)
{
    return (int64_t)(((const struct config *)config)->theta * (double)C);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t C = s->dims.C, A = amplitude(config, C);
    (void)self;
    if (C * s->dims.H != s->dims.D)
        return peat_refuse(s, "amplitude and phase share a whole head: leave where.dims out");
    if (A > 0 && A < C)
        return PEAT_OK;
    return peat_refuse(s, "a head width of %lld has no dimension left for the %s: change theta",
                       (long long)C, A ? "phase" : "amplitude");
}

/* 2 pi |i - j|^alpha / sqrt(C - A): [1|B, 1, Tq, Tk] */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    double alpha = ((const struct config *)c->config)->alpha;
    double turn = 2 * acos(-1) / sqrt((double)(c->dims.C - amplitude(c->config, c->dims.C)));
    int64_t B = c->q->pos_B, Tq = c->q->T, Tk = c->k->T;
    double *far = peat_scratch(c, B * Tq * Tk);
    for (int64_t i = 0; far && i < B * Tq * Tk; i++) {
        double q = relative_position(c->q, i / (Tq * Tk), i / Tk % Tq);
        far[i] = turn * pow(fabs(q - relative_position(c->k, i / (Tq * Tk), i % Tk)), alpha);
    }
    shared[0] = peat_fill(c, 4, (int64_t[]){B, 1, Tq, Tk}, far);
    return PEAT_OK;
}

/* Of q only the amplitude, times sqrt(C/A): the host divides by sqrt(C), the paper by sqrt(A). The
 * dimensions that another scheme has added stay. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t C = c->dims.C, A = amplitude(c->config, C), width = peat_shape_of(c->g, io->q).dim[3];
    double *keep = peat_scratch(c, width);
    for (int64_t i = 0; keep && i < width; i++)
        keep[i] = i < A || i >= C ? sqrt((double)C / (double)A) : 0;
    io->q = peat_mul(c->g, io->q, peat_fill(c, 1, &width, keep));
    return PEAT_OK;
}

/* S cos(2 pi |i - j|^alpha q_P . k_P / sqrt(C - A)) + bias */
static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    int64_t C = c->dims.C, A = amplitude(c->config, C);
    peat_node *q = peat_slice(c->g, p->q, -1, A, C), *k = peat_slice(c->g, p->k, -1, A, C);
    peat_node *phase = peat_mul(c->g, peat_matmul(c->g, q, k, PEAT_TRANS_B), c->shared[0]);
    peat_probe(c, "phase", phase);
    S = peat_mul(c->g, S, peat_cos(c->g, phase));
    return bias ? peat_add(c->g, S, bias) : S;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK | PEAT_NEED_BIAS,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
    .logits = logits,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "tapa", "1.0",
            "logits times the cosine of a phase that two tokens and their distance give", "MIT",
            "arXiv:2509.12635")
