/* SPDX-License-Identifier: MIT */
/*
 * wavelet.c: queries meet a vector of wavelets of the distance, each dimension its own scale and
 * shift. Oka et al. 2025, section 5.
 */
#include "../relative.h"

enum { INDEX, P };
enum { RICKER, GAUSSIAN };

struct config {
    int64_t wavelet, scales;
    double smallest;
};

static const char *const wavelets[] = {"ricker", "gaussian", NULL};

static const peat_param rows[] = {
    {"wavelet", PEAT_ENUM, offsetof(struct config, wavelet), .preset = RICKER, .labels = wavelets,
     .doc = "(1 - t^2) exp(-t^2 / 2) or exp(-t^2)"},
    {"scales", PEAT_INT, offsetof(struct config, scales), .min = 1, .max = 128,
     .automatic = "the most up to 8 that leave two shifts or more",
     .doc = "how many scales; the head width over it is the number of shifts", .flags = PEAT_AUTO},
    {"smallest", PEAT_REAL, offsetof(struct config, smallest), .preset = 1, .min = 1e-3, .max = 1e6,
     .unit = "tokens", .doc = "the first scale; each is twice the one before"},
    PEAT_PARAM_END,
};

/* Scales of a head of width C. */
static int64_t scales(const struct config *k, int64_t C)
{
    int64_t s = k->scales ? k->scales : C < 16 ? C / 2 : 8;
    while (!k->scales && s > 1 && C % s != 0)
        s--;
    return s > 0 ? s : 1;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t n = scales(config, s->dims.C);
    (void)self;
    if (s->dims.C % n != 0)
        return peat_refuse(s, "scales = %lld does not divide a head width of %lld", (long long)n,
                           (long long)s->dims.C);
    peat_resolved(s, "scales", (double)n);
    return PEAT_OK;
}

/* psi((distance - b) / a) of the C wavelets: all shifts b of the smallest scale a, then of the next
 */
static void wave_row(const void *config, const double *distance, double *out, int64_t C)
{
    const struct config *k = config;
    int64_t shifts = C / scales(k, C);
    for (int64_t i = 0; i < C; i++) {
        double a = k->smallest * exp2((double)(i / shifts));
        double t = (distance[0] - (double)(i % shifts)) / a;
        out[i] = k->wavelet == RICKER ? (1 - t * t) * exp(-t * t / 2) : exp(-t * t);
    }
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    return relative_rows(c, c->dims.C, wave_row, &shared[INDEX], &shared[P]);
}

/* q_i . p[i - j] */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    return peat_matmul_take(c->g, p->q, c->shared[P], PEAT_TRANS_B, c->shared[INDEX]);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "wavelet", "1.0",
            "queries meet wavelets of the distance at many scales", "MIT", "arXiv:2502.02004")
PEAT_ALSO_CALLED("wavelets, ricker")
