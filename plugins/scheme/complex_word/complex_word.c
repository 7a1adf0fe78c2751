/* SPDX-License-Identifier: MIT */
/*
 * complex_word.c: every word is a wave over positions in every component, with an amplitude, a
 * frequency and a phase of its own. Wang et al. 2020, section 2, as real and imaginary parts.
 */
#include <math.h>

#include <peat/plugin.h>

enum { AMPLITUDE, FREQUENCY, PHASE };

struct config {
    double base, scale;
    bool phase;
};

static const peat_param rows[] = {
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "all words start with the frequencies base^(-i/n) of n components"},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .min = 0, .max = 1e6,
     .automatic = "model.embed_scale", .doc = "fixed factor on every vector",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    {"phase", PEAT_BOOL, offsetof(struct config, phase), .preset = true,
     .doc = "phases are trained; false: they are 0"},
    PEAT_PARAM_END,
};

struct complex_word {
    double scale;
};

/* A table [V, n] whose rows all start as base^(-i/n). */
static peat_status frequencies(peat_setup *s, double base, int64_t n)
{
    int64_t count = s->dims.V * n;
    double *start = peat_alloc(s, (size_t)count * sizeof(*start));
    if (!start)
        return PEAT_NOMEM;
    for (int64_t i = 0; i < count; i++)
        start[i] = pow(base, -(double)(i % n) / (double)n);
    peat_init init = {.kind = PEAT_INIT_VALUES, .values = start};
    peat_param_new(s, "frequency", 2, (int64_t[]){s->dims.V, n}, init, PEAT_ONCE, PEAT_NO_DECAY);
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct complex_word *w = peat_alloc(s, sizeof(*w));
    const int64_t n = s->dims.d / 2, dim[] = {s->dims.V, n};
    if (!w)
        return PEAT_NOMEM;
    if (s->dims.d % 2 != 0)
        return peat_refuse(s, "a stream of width %lld has no real and imaginary halves",
                           (long long)s->dims.d);
    peat_token_table tokens = peat_tokens(s);
    w->scale = k->scale > 0 ? k->scale : tokens.factor;
    peat_resolved(s, "scale", w->scale);
    peat_init amplitude = {.kind = PEAT_INIT_NORMAL, .b = tokens.std};
    peat_init zero = {.kind = PEAT_INIT_ZERO};
    peat_param_new(s, "amplitude", 2, dim, amplitude, PEAT_ONCE, 0);
    peat_status status = frequencies(s, k->base, n);
    if (status == PEAT_OK && k->phase)
        peat_param_new(s, "phase", 2, dim, zero, PEAT_ONCE, PEAT_NO_DECAY);
    *self = w;
    return status;
}

/* The rows of a table for the tokens: [B,T,n] */
static peat_node *of_words(const peat_call *c, int32_t handle, peat_node *index)
{
    return peat_gather_rows(c->g, peat_use(c, handle), index);
}

/* P[t] = scale [r cos angle | r sin angle], angle = frequency pos + phase, with the numbers of
 * t's word; the row of the model's class token, whose id is V, is 0, since it is not a word. */
static peat_node *encode(const peat_call *c)
{
    const struct config *k = c->config;
    const struct complex_word *w = c->self;
    const peat_side *q = c->q;
    if (!q->token)
        return peat_fail(c->g, "waves belong to token ids, and there are none");
    int64_t n = c->B * q->T, last = c->dims.V - 1;
    double *id = peat_scratch(c, n), *word = peat_scratch(c, n);
    for (int64_t i = 0; id && word && i < n; i++) {
        id[i] = (double)(q->token[i] < last ? q->token[i] : last);
        word[i] = q->token[i] <= last;
    }
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->B, q->T}, id);
    peat_node *pos = peat_reshape(c->g, peat_pos(c, q, 0), 3, (int64_t[]){q->pos_B, q->T, 1});
    peat_node *angle = peat_mul(c->g, of_words(c, FREQUENCY, index), pos);
    if (k->phase)
        angle = peat_add(c->g, angle, of_words(c, PHASE, index));
    peat_node *r = peat_scale(c->g, of_words(c, AMPLITUDE, index), w->scale);
    r = peat_mul(c->g, r, peat_fill(c, 3, (int64_t[]){c->B, q->T, 1}, word));
    peat_node *real = peat_mul(c->g, r, peat_cos(c->g, angle));
    peat_node *imaginary = peat_mul(c->g, r, peat_sin(c->g, angle));
    return peat_concat(c->g, 2, (peat_node *[]){real, imaginary}, -1);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .traits = PEAT_STORABLE | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "complex_word", "1.0",
            "every word is a wave over positions with a frequency of its own", "MIT",
            "arXiv:1912.12333")
