/* SPDX-License-Identifier: MIT */
/*
 * abacus.c: a trained vector for each place of a digit within its number, so that digits of equal
 * place are alike in all numbers. McLeish et al. 2024, section 3.
 */
#include "../table.h"

struct config {
    peat_reals digits;
    int64_t max_digits, max_offset;
    struct table_start table;
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
    TABLE_ROWS(struct config, table),
    PEAT_PARAM_END,
};

struct abacus {
    int64_t max_digits;
    double scale;
    const bool *digit; /* of a token id */
};

/* Row 0 of the table is for tokens that are not digits, row n for the n-th digit of a number. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    static const double bytes[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
    const struct config *k = config;
    struct abacus *a = *self = peat_alloc(s, sizeof(*a));
    if (!a)
        return PEAT_NOMEM;
    a->max_digits = k->max_digits ? k->max_digits : s->dims.T_max;
    peat_resolved(s, "max_digits", (double)a->max_digits);
    a->scale = table_setup(s, &k->table, 1 + a->max_digits + k->max_offset);
    peat_reals digits = k->digits.n ? k->digits : (peat_reals){10, bytes};
    peat_resolved_list(s, "digits", digits);
    return peat_mark_ids(s, "digit", "the ids of its digits in digits", digits, 0, NULL, &a->digit);
}

/* Rows of the table: numbers end at documents and padding too. */
static peat_status own_positions(const peat_call *c, double *pos)
{
    const struct abacus *a = c->self;
    const peat_side *side = c->q;
    double shift = 0, most = (double)((const struct config *)c->config)->max_offset;
    for (int64_t i = 0, run = 0; i < c->B * side->T; i++) {
        if (i % side->T == 0 && c->phase == PEAT_TRAIN && most > 0) {
            peat_random_row(c, "offset", i / side->T, 1, &shift);
            shift = floor(shift * (most + 1));
        }
        bool digit = a->digit[side->token[i]] && !(side->pad && side->pad[i]);
        run = !digit ? 0 : peat_starts(side, i) ? 1 : run + 1;
        pos[i] = run > 0 ? (double)run + shift : 0;
        if (run > a->max_digits)
            peat_fail(c->g, "a number has more than max_digits = %lld digits",
                      (long long)a->max_digits);
    }
    return PEAT_OK;
}

static peat_node *encode(const peat_call *c)
{
    return table_at_own_positions(c, ((const struct abacus *)c->self)->scale);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .needs = PEAT_NEED_TOKENS,
                                   .traits = PEAT_STORABLE | PEAT_CONTENT_DEPENDENT,
                                   .setup = setup,
                                   .own_positions = own_positions,
                                   .encode = encode};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "abacus", "1.0",
            "a trained vector for each place of a digit within its number", "MIT",
            "arXiv:2405.17399")
