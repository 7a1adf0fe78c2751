/* SPDX-License-Identifier: MIT */
/*
 * abacus.c: a trained vector for each place of a digit within its number, so that digits of equal
 * place are alike in all numbers. McLeish et al. 2024, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    peat_reals digits;
    int64_t max_digits, max_offset;
    double init_std, scale;
};

static const peat_param rows[] = {
    {"digits", PEAT_REALS, offsetof(struct config, digits), .min = 0, .max = 1 << 24,
     .automatic = "48 to 57, the bytes of '0' to '9'", .doc = "token ids that are digits",
     .flags = PEAT_AUTO},
    {"max_digits", PEAT_INT, offsetof(struct config, max_digits), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "digits",
     .doc = "longest number", .flags = PEAT_AUTO},
    {"max_offset", PEAT_INT, offsetof(struct config, max_offset), .preset = 99, .min = 0,
     .max = 1 << 24, .unit = "digits",
     .doc = "in training, places are shifted by one random number from 0 to this per sequence"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .min = 0, .max = 1e3,
     .automatic = "that of the token table", .doc = "standard deviation of the initial vectors",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .min = 0, .max = 1e6,
     .automatic = "model.embed_scale", .doc = "fixed factor on every vector",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct abacus {
    int64_t max_digits;
    double scale;
    bool *digit; /* [V + 1]: a model's class token has the id V */
};

static peat_status mark_digit(peat_setup *s, struct abacus *a, double id)
{
    if (id != floor(id) || id < 0 || id >= (double)s->dims.V)
        return peat_refuse(s,
                           "digit %g is not one of the %lld token ids of the task: name the ids "
                           "of its digits in digits",
                           id, (long long)s->dims.V);
    a->digit[(int64_t)id] = true;
    return PEAT_OK;
}

/* Row 0 of the table is for what is no digit, row n for the n-th digit of a number. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct abacus *a = peat_alloc(s, sizeof(*a));
    if (!a || !(a->digit = peat_alloc(s, (size_t)(s->dims.V + 1) * sizeof(*a->digit))))
        return PEAT_NOMEM;
    int64_t n = k->digits.n ? k->digits.n : 10;
    for (int64_t i = 0; i < n; i++) {
        peat_status status = mark_digit(s, a, k->digits.n ? k->digits.item[i] : (double)('0' + i));
        if (status != PEAT_OK)
            return status;
    }
    a->max_digits = k->max_digits ? k->max_digits : s->dims.T_max;
    peat_token_table tokens = peat_tokens(s);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std > 0 ? k->init_std : tokens.std};
    a->scale = k->scale > 0 ? k->scale : tokens.factor;
    peat_resolved(s, "max_digits", (double)a->max_digits);
    peat_resolved(s, "init_std", init.b);
    peat_resolved(s, "scale", a->scale);
    const int64_t dim[] = {1 + a->max_digits + k->max_offset, s->dims.d};
    peat_param_new(s, "table", 2, dim, init, PEAT_ONCE, 0);
    *self = a;
    return PEAT_OK;
}

static double offset(const peat_call *c, int64_t b)
{
    int64_t max = ((const struct config *)c->config)->max_offset;
    double u = 0;
    if (c->phase == PEAT_TRAIN && max > 0)
        peat_random_row(c, "offset", b, 1, &u);
    return floor(u * (double)(max + 1));
}

/* Rows of the table of sequence b: numbers end at documents and padding too. False: a number is
 * too long. */
static bool places(const peat_call *c, int64_t b, double *row)
{
    const struct abacus *a = c->self;
    const peat_side *side = c->q;
    double shift = offset(c, b);
    int64_t run = 0;
    for (int64_t i = b * side->T; i < (b + 1) * side->T; i++) {
        bool fresh =
            side->document && i > b * side->T && side->document[i] != side->document[i - 1];
        bool digit = a->digit[side->token[i]] && !(side->pad && side->pad[i]);
        run = !digit ? 0 : fresh ? 1 : run + 1;
        if (run > a->max_digits)
            return false;
        row[i] = run > 0 ? (double)run + shift : 0;
    }
    return true;
}

static peat_node *encode(const peat_call *c)
{
    if (!c->q->token)
        return peat_fail(c->g, "places are counted in token ids, and there are none");
    double *row = peat_scratch(c, c->B * c->q->T);
    for (int64_t b = 0; row && b < c->B; b++)
        if (!places(c, b, row))
            return peat_fail(c->g, "a number has more than max_digits = %lld digits",
                             (long long)((const struct abacus *)c->self)->max_digits);
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->B, c->q->T}, row);
    return peat_scale(c->g, peat_gather_rows(c->g, peat_use(c, 0), index),
                      ((const struct abacus *)c->self)->scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .traits = PEAT_STORABLE | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "abacus", "1.0",
            "a trained vector for each place of a digit within its number", "MIT",
            "arXiv:2405.17399")
