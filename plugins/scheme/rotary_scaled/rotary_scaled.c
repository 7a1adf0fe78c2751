/* SPDX-License-Identifier: MIT */
/*
 * rotary_scaled.c: rotary with frequencies lowered for sequences longer than those trained: all of
 * them (Chen et al. 2023), the slow ones (NTK-aware), by how often they turn within the trained
 * length (YaRN: Peng et al. 2024), or each by a number of its own (LongRoPE: Ding et al. 2024).
 */
#include <math.h>

#include "../rotation.h"

enum { LINEAR, NTK, YARN, LLAMA3, LONGROPE };
enum { BY_TURNS, BY_INDEX };

struct config {
    int64_t kind, ramp, layout, original_length;
    double factor, base, beta_fast, beta_slow;
    peat_reals short_factor, long_factor;
};

static const char *const kinds[] = {"linear", "ntk", "yarn", "llama3", "longrope", NULL};
static const char *const ramps[] = {"turns", "index", NULL};

static const peat_param rows[] = {
    {"kind", PEAT_ENUM, offsetof(struct config, kind), .preset = NTK, .labels = kinds,
     .doc = "which frequencies are lowered: all alike, the slower the more, or those that turn "
            "seldom, or each by a given number"},
    {"ramp", PEAT_ENUM, offsetof(struct config, ramp), .preset = BY_TURNS, .labels = ramps,
     .doc =
         "yarn: what the part that stays is linear in, the turns as in the paper or the index of "
         "the pair as in published programs",
     .flags = PEAT_LATER},
    {"factor", PEAT_REAL, offsetof(struct config, factor), .min = 1, .max = 1e6,
     .automatic = "sequence length / original_length, where that is above 1",
     .doc = "s: how many times longer sequences become; a given one acts in training too",
     .flags = PEAT_AUTO},
    {"original_length", PEAT_INT, offsetof(struct config, original_length), .min = 1,
     .max = 1 << 24, .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "length that needs no scaling", .flags = PEAT_AUTO},
    ROTATION_LAYOUT_ROW(struct config),
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest, unscaled", .flags = PEAT_OPEN_MIN},
    {"beta_fast", PEAT_REAL, offsetof(struct config, beta_fast), .preset = 32, .min = 0, .max = 1e6,
     .unit = "turns", .doc = "yarn, llama3: pairs that turn more often in original_length stay"},
    {"beta_slow", PEAT_REAL, offsetof(struct config, beta_slow), .preset = 1, .min = 0, .max = 1e6,
     .unit = "turns", .doc = "yarn, llama3: pairs that turn less often are lowered by s"},
    {"short_factor", PEAT_REALS, offsetof(struct config, short_factor), .min = 0, .max = 1e6,
     .doc = "longrope: what the frequency of each pair is divided by, in sequences of at most "
            "original_length; none: 1 for all",
     .flags = PEAT_OPEN_MIN | PEAT_LATER},
    {"long_factor", PEAT_REALS, offsetof(struct config, long_factor), .min = 0, .max = 1e6,
     .doc = "longrope: the same, in longer sequences", .flags = PEAT_OPEN_MIN | PEAT_LATER},
    PEAT_PARAM_END,
};

struct scaled {
    double length; /* original */
};

/* Without long factors nothing would be scaled; a list has a number for each pair of a head. */
static peat_status check_lists(peat_setup *s, const struct config *k, double length)
{
    const long long pairs = s->dims.C / 2, n = k->long_factor.n, m = k->short_factor.n;
    if (k->kind != LONGROPE)
        return n || m ? peat_refuse(s, "short_factor and long_factor are for kind: longrope")
                      : PEAT_OK;
    if (n != pairs || (m && m != pairs))
        return peat_refuse(s,
                           "a head of %lld has %lld pairs, and %s has %lld numbers: give one for "
                           "each pair",
                           (long long)s->dims.C, pairs, n != pairs ? "long_factor" : "short_factor",
                           n != pairs ? n : m);
    return length > 1 ? PEAT_OK : peat_refuse(s, "kind: longrope needs original_length above 1");
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct scaled *r = peat_alloc(s, sizeof(*r));
    if (!r)
        return PEAT_NOMEM;
    if (s->dims.C % 2)
        return peat_refuse(s,
                           "a head width of %lld does not split into pairs that turn: make "
                           "model.d_model / model.n_head even",
                           (long long)s->dims.C);
    if (k->beta_fast <= k->beta_slow)
        return peat_refuse(s, "beta_fast = %g must be above beta_slow = %g", k->beta_fast,
                           k->beta_slow);
    if (k->kind == YARN && k->ramp == BY_INDEX && k->beta_slow == 0)
        return peat_refuse(s, "ramp: index needs beta_slow above 0");
    r->length = (double)(k->original_length ? k->original_length : s->dims.T_train);
    peat_resolved(s, "original_length", r->length);
    *self = r;
    return check_lists(s, k, r->length);
}

/* s, of this call's sequences when it is automatic. */
static double factor(const peat_call *c)
{
    double given = ((const struct config *)c->config)->factor;
    double length = ((const struct scaled *)c->self)->length;
    return given > 0 ? given : fmax(1, (double)c->q->T_total / length);
}

/* The index, in pairs, of the pair that turns so often in the original length. */
static double index_of(const peat_call *c, double turns, int64_t n)
{
    const struct config *k = c->config;
    double length = ((const struct scaled *)c->self)->length;
    return (double)n * log(length / (turns * 2 * acos(-1))) / log(k->base);
}

/* What stays of the frequency w of pair i of n: 0 at beta_slow turns in the original length, 1 at
 * beta_fast. By index it is linear between the whole indices around those pairs. */
static double kept(const peat_call *c, double w, int64_t i, int64_t n)
{
    const struct config *k = c->config;
    double turns = ((const struct scaled *)c->self)->length * w / (2 * acos(-1));
    double keep = (turns - k->beta_slow) / (k->beta_fast - k->beta_slow);
    if (k->kind == YARN && k->ramp == BY_INDEX) {
        double low = fmax(floor(index_of(c, k->beta_fast, n)), 0);
        double high = fmin(ceil(index_of(c, k->beta_slow, n)), (double)(2 * n - 1));
        keep = 1 - ((double)i - low) / (high == low ? 1e-3 : high - low);
    }
    return fmin(fmax(keep, 0), 1);
}

/* What the frequency of pair i is divided by: of the list for sequences of this length. */
static double own_factor(const peat_call *c, int64_t i)
{
    const struct config *k = c->config;
    bool longer = (double)c->q->T_total > ((const struct scaled *)c->self)->length;
    const peat_reals *list = longer ? &k->long_factor : &k->short_factor;
    return list->n ? list->item[i] : 1;
}

/* The frequency of pair i of n. NTK: (base s^(d/(d-2)))^(-2i/d) for d = 2n. YaRN and
 * Llama 3: w (keep + (1 - keep)/s). */
static double frequency(const peat_call *c, double s, int64_t i, int64_t n)
{
    const struct config *k = c->config;
    double w = pow(k->base, -(double)i / (double)n);
    if (k->kind == LINEAR)
        return w / s;
    if (k->kind == NTK)
        return i == 0 ? w : w * pow(s, -(double)i / (double)(n - 1));
    if (k->kind == LONGROPE)
        return w / own_factor(c, i);
    double keep = kept(c, w, i, n);
    return w * (keep + (1 - keep) / s);
}

/* What queries and keys are both multiplied by: of YaRN and of LongRoPE. */
static double magnitude(const peat_call *c, double s)
{
    int64_t kind = ((const struct config *)c->config)->kind;
    double length = ((const struct scaled *)c->self)->length;
    return kind == YARN ? 0.1 * log(s) + 1 : kind == LONGROPE ? sqrt(1 + log(s) / log(length)) : 1;
}

/* cos and sin of the n pairs' angles at one side, each [pos_B, 1, T, n]: the same for all heads. */
static void turn_side(const peat_call *c, const peat_side *side, int64_t n, peat_node **turn)
{
    double s = factor(c), by = magnitude(c, s);
    double *cosine = peat_scratch(c, side->pos_B * side->T * n);
    double *sine = peat_scratch(c, side->pos_B * side->T * n);
    for (int64_t i = 0; cosine && sine && i < n; i++) {
        double w = frequency(c, s, i, n);
        for (int64_t t = 0; t < side->pos_B * side->T; t++) {
            cosine[t * n + i] = by * cos(side->pos[t] * w);
            sine[t * n + i] = by * sin(side->pos[t] * w);
        }
    }
    const int64_t dim[] = {side->pos_B, 1, side->T, n};
    turn[0] = peat_fill(c, 4, dim, cosine);
    turn[1] = peat_fill(c, 4, dim, sine);
}

/* Cosines and sines of the queries, then those of the keys. */
static void turns(const peat_call *c, int64_t n, peat_node **turn)
{
    turn_side(c, c->q, n, turn);
    if (c->k != c->q) {
        turn_side(c, c->k, n, turn + 2);
    } else {
        turn[2] = turn[0];
        turn[3] = turn[1];
    }
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    turns(c, c->dims.C / 2, shared);
    return PEAT_OK;
}

/* Where `where.dims` narrows a head, the width differs from the one prepared for. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_layout layout = (peat_layout)((const struct config *)c->config)->layout;
    int64_t C = peat_shape_of(c->g, io->q).dim[3];
    peat_node *own[4];
    peat_node *const *turn = c->shared;
    if (C % 2) {
        peat_fail(c->g, "%lld dimensions do not split into pairs that turn", (long long)C);
        return PEAT_FAILED;
    }
    if (C != c->dims.C && ((const struct config *)c->config)->kind == LONGROPE) {
        peat_fail(c->g,
                  "kind: longrope has a factor for each pair of a head: leave where.dims out");
        return PEAT_FAILED;
    }
    if (C != c->dims.C) {
        turns(c, C / 2, own);
        turn = own;
    }
    io->q = peat_rotate(c->g, io->q, turn[0], turn[1], layout);
    io->k = peat_rotate(c->g, io->k, turn[2], turn[3], layout);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_LENGTH,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE | PEAT_ACROSS,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "rotary_scaled", "1.3",
            "rotary with frequencies lowered for longer sequences", "MIT",
            "arXiv:2306.15595, arXiv:2309.00071, arXiv:2402.13753")
PEAT_ALSO_CALLED("yarn, ntk, llama3, longrope")
