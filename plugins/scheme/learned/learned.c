/* SPDX-License-Identifier: MIT */
/* learned.c: a trained vector for each position. Gehring et al. 2017, section 3.1. */
#include <math.h>

#include <peat/plugin.h>

enum { REFUSE, CLAMP, ZERO, INTERPOLATE };

struct config {
    int64_t max_len, beyond;
    double init_std, scale;
};

static const char *const beyonds[] = {"refuse", "clamp", "zero", "interpolate", NULL};

static const peat_param rows[] = {
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that are learned", .flags = PEAT_AUTO},
    {"beyond", PEAT_ENUM, offsetof(struct config, beyond), .preset = REFUSE, .labels = beyonds,
     .doc = "positions from max_len on: an error, the last row, zeros, or all rows stretched"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .min = 0, .max = 1e3,
     .automatic = "that of the token table", .doc = "standard deviation of the initial rows",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .min = 0, .max = 1e6,
     .automatic = "model.embed_scale", .doc = "fixed factor on every row",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct learned {
    int64_t n; /* rows */
    double scale;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct learned *l = peat_alloc(s, sizeof(*l));
    if (!l)
        return PEAT_NOMEM;
    l->n = k->max_len ? k->max_len : s->dims.T_max;
    if (k->beyond == REFUSE && s->dims.T_max > l->n)
        return peat_refuse(s,
                           "learns max_len = %lld positions, but sequences of %lld are evaluated; "
                           "raise max_len or set beyond to clamp, zero or interpolate",
                           (long long)l->n, (long long)s->dims.T_max);
    peat_token_table tokens = peat_tokens(s);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std > 0 ? k->init_std : tokens.std};
    l->scale = k->scale > 0 ? k->scale : tokens.factor;
    peat_resolved(s, "max_len", (double)l->n);
    peat_resolved(s, "init_std", init.b);
    peat_resolved(s, "scale", l->scale);
    peat_param_new(s, "table", 2, (int64_t[]){l->n, s->dims.d}, init, PEAT_ONCE, 0);
    *self = l;
    return PEAT_OK;
}

/* Why a table of n rows has no row for this place, to follow the place; NULL: it has one. */
static const char *fault(const struct config *k, double place, int64_t n)
{
    if (!(place >= 0))
        return "is not a position from 0 on";
    if (k->beyond != INTERPOLATE && place != floor(place))
        return "is not a whole number";
    if (place > (double)(n - 1) && (k->beyond == REFUSE || k->beyond == INTERPOLATE))
        return "is beyond the positions learned";
    return NULL;
}

/* The place in the table of each position of a side, or NULL after a failure. To interpolate is to
 * squeeze sequences longer than the table into it: p (n - 1) / (T_total - 1). */
static double *places(const peat_call *c, const peat_side *side, int64_t n)
{
    const struct config *k = c->config;
    bool squeeze = k->beyond == INTERPOLATE && side->T_total > n;
    double by = squeeze ? (double)(n - 1) / (double)(side->T_total - 1) : 1;
    double *place = peat_scratch(c, side->pos_B * side->T);
    for (int64_t i = 0; place && i < side->pos_B * side->T; i++) {
        place[i] = side->pos[i] * by;
        const char *wrong = fault(k, place[i], n);
        if (wrong) {
            peat_fail(c->g, "position %g %s: max_len is %lld", side->pos[i], wrong, (long long)n);
            return NULL;
        }
    }
    return place;
}

/* scale times row min(floor(place) + shift, n - 1) of the table for each place: [pos_B, T, d]. */
static peat_node *rows_at(const peat_call *c, const peat_side *side, const double *place,
                          double shift)
{
    const struct learned *l = c->self;
    double *row = peat_scratch(c, side->pos_B * side->T);
    for (int64_t i = 0; row && place && i < side->pos_B * side->T; i++)
        row[i] = fmin(floor(place[i]) + shift, (double)(l->n - 1));
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){side->pos_B, side->T}, row);
    return peat_scale(c->g, peat_gather_rows(c->g, peat_use(c, 0), index), l->scale);
}

/* [pos_B, T, 1]: how far each place is from its row to the next, or whether the table has it. */
static peat_node *share(const peat_call *c, const peat_side *side, const double *place, int64_t n)
{
    const struct config *k = c->config;
    double *out = peat_scratch(c, side->pos_B * side->T);
    for (int64_t i = 0; out && place && i < side->pos_B * side->T; i++)
        out[i] = k->beyond == ZERO ? place[i] < (double)n : place[i] - floor(place[i]);
    return peat_fill(c, 3, (int64_t[]){side->pos_B, side->T, 1}, out);
}

static peat_node *encode(const peat_call *c)
{
    const struct config *k = c->config;
    int64_t n = ((const struct learned *)c->self)->n;
    const double *place = places(c, c->q, n);
    if (!place)
        return NULL;
    peat_node *row = rows_at(c, c->q, place, 0);
    if (k->beyond == ZERO)
        return peat_mul(c->g, row, share(c, c->q, place, n));
    if (k->beyond != INTERPOLATE)
        return row;
    peat_node *step = peat_sub(c->g, rows_at(c, c->q, place, 1), row);
    return peat_add(c->g, row, peat_mul(c->g, step, share(c, c->q, place, n)));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_LENGTH,
    .traits = PEAT_STORABLE | PEAT_FINITE_LENGTH,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "learned", "1.1",
            "a trained vector for each position", "MIT", "arXiv:1705.03122")
PEAT_ALSO_CALLED("absolute, ape, embedding")
