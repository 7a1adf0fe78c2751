/* SPDX-License-Identifier: MIT */
/*
 * bipe.c: positions on two levels: a trained vector for the place within a segment, and the number
 * of the segment as the position that other schemes see. He et al. 2024, section 3.
 */
#include "../table.h"

struct config {
    peat_reals separators;
    int64_t longest;
    struct table_start table;
};

static const peat_param rows[] = {
    {"separators", PEAT_REALS, offsetof(struct config, separators), .min = 0, .max = 1 << 24,
     .automatic = "the bytes '.' and newline, 46 and 10",
     .doc = "ids of the tokens that end a segment", .flags = PEAT_AUTO},
    {"longest", PEAT_INT, offsetof(struct config, longest), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "places that are learned; from the last on all share its vector", .flags = PEAT_AUTO},
    TABLE_ROWS(struct config, table),
    PEAT_PARAM_END,
};

struct bipe {
    int64_t longest;
    double scale;
    const bool *ends; /* of a token id */
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    static const double bytes[] = {'.', '\n'};
    const struct config *k = config;
    struct bipe *p = *self = peat_alloc(s, sizeof(*p));
    if (!p)
        return PEAT_NOMEM;
    p->longest = k->longest ? k->longest : s->dims.T_train;
    peat_resolved(s, "longest", (double)p->longest);
    p->scale = table_setup(s, &k->table, p->longest);
    peat_reals separators = k->separators.n ? k->separators : (peat_reals){2, bytes};
    peat_resolved_list(s, "separators", separators);
    return peat_mark_ids(s, "separator", "the ids that end a segment in separators", separators, 0,
                         NULL, &p->ends);
}

/* The number of the segment of each token, or its place in it. A separator is the last of its
 * segment; documents begin segment 0, also after padding. */
static peat_status count(const peat_call *c, bool places, double *pos)
{
    const struct bipe *p = c->self;
    const int32_t *token = c->q->token;
    int64_t segment = 0, place = 0;
    for (int64_t i = 0; i < c->B * c->q->T; i++, place++) {
        bool starts = peat_starts(c->q, i), ends = !starts && p->ends[token[i - 1]];
        segment = starts ? 0 : segment + ends;
        place = starts || ends ? 0 : place;
        pos[i] = (double)(!places ? segment : place < p->longest ? place : p->longest - 1);
    }
    return PEAT_OK;
}

static peat_status positions(const peat_call *c, double *pos)
{
    return count(c, false, pos);
}

static peat_status own_positions(const peat_call *c, double *pos)
{
    return count(c, true, pos);
}

/* P[t] = scale table[min(place of t, longest - 1)] */
static peat_node *encode(const peat_call *c)
{
    return table_at_own_positions(c, ((const struct bipe *)c->self)->scale);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .needs = PEAT_NEED_TOKENS,
                                   .traits = PEAT_CONTENT_DEPENDENT,
                                   .setup = setup,
                                   .positions = positions,
                                   .own_positions = own_positions,
                                   .encode = encode};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "bipe", "1.0",
            "a vector for the place in a segment; others see the segment's number", "MIT",
            "arXiv:2401.16421")
