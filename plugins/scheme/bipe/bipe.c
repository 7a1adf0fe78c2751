/* SPDX-License-Identifier: MIT */
/*
 * bipe.c: positions on two levels: a trained vector for the place within a segment, and the number
 * of the segment as the position that other schemes see. He et al. 2024, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    peat_reals separators;
    int64_t longest;
    double init_std, scale;
};

static const peat_param rows[] = {
    {"separators", PEAT_REALS, offsetof(struct config, separators), .min = 0, .max = 1 << 24,
     .automatic = "the bytes '.' and newline, 46 and 10",
     .doc = "ids of the tokens that end a segment", .flags = PEAT_AUTO},
    {"longest", PEAT_INT, offsetof(struct config, longest), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "places that are learned; from the last on all share its vector", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .min = 0, .max = 1e3,
     .automatic = "that of the token table", .doc = "standard deviation of the initial vectors",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .min = 0, .max = 1e6,
     .automatic = "model.embed_scale", .doc = "fixed factor on every vector",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct bipe {
    int64_t longest;
    double scale;
    bool *ends; /* [V + 1]: a model's class token has the id V */
};

static peat_status mark_separator(peat_setup *s, struct bipe *p, double id)
{
    if (id != floor(id) || id < 0 || id >= (double)s->dims.V)
        return peat_refuse(s,
                           "separator %g is not one of the %lld token ids of the task: name the "
                           "ids that end a segment in separators",
                           id, (long long)s->dims.V);
    p->ends[(int64_t)id] = true;
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    static const double bytes[] = {'.', '\n'};
    const struct config *k = config;
    struct bipe *p = peat_alloc(s, sizeof(*p));
    if (!p || !(p->ends = peat_alloc(s, (size_t)(s->dims.V + 1) * sizeof(*p->ends))))
        return PEAT_NOMEM;
    int64_t n = k->separators.n ? k->separators.n : 2;
    for (int64_t i = 0; i < n; i++) {
        peat_status status =
            mark_separator(s, p, (k->separators.n ? k->separators.item : bytes)[i]);
        if (status != PEAT_OK)
            return status;
    }
    peat_token_table tokens = peat_tokens(s);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std > 0 ? k->init_std : tokens.std};
    p->longest = k->longest ? k->longest : s->dims.T_train;
    p->scale = k->scale > 0 ? k->scale : tokens.factor;
    peat_resolved(s, "longest", (double)p->longest);
    peat_resolved(s, "init_std", init.b);
    peat_resolved(s, "scale", p->scale);
    peat_param_new(s, "table", 2, (int64_t[]){p->longest, s->dims.d}, init, PEAT_ONCE, 0);
    *self = p;
    return PEAT_OK;
}

/* Of row b: the number of the segment of each token, and its place in it. A separator is the last
 * of its segment; documents begin segment 0, also after padding. */
static void count(const peat_call *c, int64_t b, double *segment, double *place)
{
    const struct bipe *p = c->self;
    const peat_side *side = c->q;
    double n = 0, at = 0;
    for (int64_t i = b * side->T; i < (b + 1) * side->T; i++) {
        bool first = i == b * side->T;
        if (!first && ((side->document && side->document[i] != side->document[i - 1]) ||
                       (side->pad && side->pad[i - 1]))) {
            n = at = 0;
        } else if (!first && p->ends[side->token[i - 1]]) {
            n++;
            at = 0;
        }
        segment[i] = n;
        place[i] = at++;
    }
}

static const char *const no_tokens = "segments are counted in token ids, and there are none";

static peat_status positions(const peat_call *c, double *pos)
{
    if (!c->q->token) {
        peat_fail(c->g, "%s", no_tokens);
        return PEAT_FAILED;
    }
    double *place = peat_scratch(c, c->B * c->q->T);
    if (!place)
        return PEAT_NOMEM;
    for (int64_t b = 0; b < c->B; b++)
        count(c, b, pos, place);
    return PEAT_OK;
}

/* P[t] = scale table[min(place of t, longest - 1)] */
static peat_node *encode(const peat_call *c)
{
    const struct bipe *p = c->self;
    if (!c->q->token)
        return peat_fail(c->g, "%s", no_tokens);
    double *segment = peat_scratch(c, c->B * c->q->T), *place = peat_scratch(c, c->B * c->q->T);
    for (int64_t b = 0; segment && place && b < c->B; b++)
        count(c, b, segment, place);
    for (int64_t i = 0; segment && place && i < c->B * c->q->T; i++)
        place[i] = fmin(place[i], (double)(p->longest - 1));
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->B, c->q->T}, place);
    return peat_scale(c->g, peat_gather_rows(c->g, peat_use(c, 0), index), p->scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .traits = PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .positions = positions,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "bipe", "1.0",
            "a vector for the place in a segment; others see the segment's number", "MIT",
            "arXiv:2401.16421")
