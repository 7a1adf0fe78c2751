/* SPDX-License-Identifier: MIT */
/*
 * planted_collision.c: which of two pairs stands at two fixed places? With token vectors planted so
 * that token plus position collide, a sum cannot tell; see README.md.
 */
#include <peat/sequence.h>

enum { FOO = PEAT_FIRST_SYMBOL, FOO_2, BAR, BAR_2, FOO_CAME, FOO_2_CAME, FILLER };
enum { DRAW_SIDE, DRAWS };

struct config {
    peat_lengths length;
    int64_t symbols, place, other;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 1, .max = 1000,
     .doc = "different symbols around the two"},
    {"place", PEAT_INT, offsetof(struct config, place), .preset = 0, .min = 0, .max = 1 << 20,
     .doc = "where foo or foo_2 stands, from the first symbol on"},
    {"other", PEAT_INT, offsetof(struct config, other), .preset = 1, .min = 0, .max = 1 << 20,
     .doc = "where bar or bar_2 stands"},
    PEAT_LENGTH_ROWS(struct config, 2, 2, "seq_len-3"),
    PEAT_PARAM_END,
};

static peat_status check(peat_setup *s, const void *config)
{
    const struct config *k = config;
    if (k->place == k->other)
        return peat_refuse(s, "place and other are both %lld, and two symbols need two places",
                           (long long)k->place);
    return PEAT_OK;
}

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return FILLER - PEAT_FIRST_SYMBOL + k->symbols;
}

static int64_t least(const void *config)
{
    const struct config *k = config;
    return (k->place > k->other ? k->place : k->other) + 1;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    bool second = peat_question_side(q, DRAW_SIDE);
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = FILLER + (int32_t)peat_question_draw(q, DRAWS + i, k->symbols);
    q->asked[k->place] = second ? FOO_2 : FOO;
    q->asked[k->other] = second ? BAR : BAR_2;
    q->answer[0] = second ? FOO_2_CAME : FOO_CAME;
}

static const peat_sequence collision = {.kind = PEAT_NAMED,
                                        .check = check,
                                        .ids = ids,
                                        .least = least,
                                        .size = peat_size_one,
                                        .fill = fill};

PEAT_DEFINE_SEQUENCE(collision, struct config, rows, "planted_collision", "1.0",
                     "tell two pairs apart that a sum of token and position can confuse", "")
