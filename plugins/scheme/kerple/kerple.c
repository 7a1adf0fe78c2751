/* SPDX-License-Identifier: MIT */
/* kerple.c: logits fall with a trained kernel of distance, one per head. Chi et al. 2022. */
#include <math.h>

#include <peat/plugin.h>

enum { LOG, POWER };
enum { R1, R2 };

struct config {
    int64_t kind;
};

static const char *const kinds[] = {"log", "power", NULL};

static const peat_param rows[] = {
    {"kind", PEAT_ENUM, offsetof(struct config, kind), .preset = LOG, .labels = kinds,
     .doc = "-r1 log(1 + r2 distance) or -r1 distance^r2"},
    PEAT_PARAM_END,
};

/* r1 and r2 are at least 0.01, and an exponent is at most 2: otherwise the kernel is not
 * conditionally positive definite. The factor of log and the exponent of power start in [0.01, 2),
 * the others below 1. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    static const char *const name[] = {"r1", "r2"};
    const double least = 0.01, most = 1e6;
    bool power = ((const struct config *)config)->kind == POWER;
    (void)self;
    for (int32_t i = R1; i <= R2; i++) {
        bool wide = power == (i == R2);
        peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = least, .b = wide ? 2 : 1};
        int32_t r = peat_param_new(s, name[i], 2, (int64_t[]){PEAT_HEADS, 1}, init, PEAT_PER_USER,
                                   PEAT_NO_DECAY);
        peat_bound(s, r, least, power && i == R2 ? 2 : most);
    }
    return PEAT_OK;
}

/* distance^r2 = exp(r2 ln distance), and 0 at distance 0, where the gradient is 0 too. */
static peat_node *raised(const peat_call *c, const peat_rel *r, peat_node *r2)
{
    double *logs = peat_scratch(c, r->n), *apart = peat_scratch(c, r->n);
    for (int64_t i = 0; logs && apart && i < r->n; i++) {
        apart[i] = r->delta[i] != 0;
        logs[i] = apart[i] > 0 ? log(fabs(r->delta[i])) : 0;
    }
    const int64_t dim[] = {1, r->n};
    peat_node *power = peat_exp(c->g, peat_mul(c->g, r2, peat_fill(c, 2, dim, logs)));
    return peat_mul(c->g, power, peat_fill(c, 2, dim, apart));
}

/* log(1 + r2 distance) */
static peat_node *slowed(const peat_call *c, const peat_rel *r, peat_node *r2)
{
    double *distance = peat_scratch(c, r->n);
    for (int64_t i = 0; distance && i < r->n; i++)
        distance[i] = fabs(r->delta[i]);
    peat_node *far = peat_fill(c, 2, (int64_t[]){1, r->n}, distance);
    return peat_log1p(c->g, peat_mul(c->g, r2, far));
}

/* bias[h, i] = -r1_h kernel(|delta_i|; r2_h) */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    const struct config *k = c->config;
    peat_node *r2 = peat_use(c, R2);
    peat_node *fall = k->kind == POWER ? raised(c, r, r2) : slowed(c, r, r2);
    return peat_scale(c->g, peat_mul(c->g, peat_use(c, R1), fall), -1);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_ACROSS,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "kerple", "1.0",
            "logits fall with a trained kernel of distance", "MIT", "arXiv:2205.09921")
