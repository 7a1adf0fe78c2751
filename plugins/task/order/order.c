/* SPDX-License-Identifier: MIT */
/* order.c: which of two marks came first? Nothing but positions tells. */
#include <peat/sequence.h>

enum { A = PEAT_FIRST_SYMBOL, B, MARKS = 2 };
enum { DRAW_SIDE, DRAW_ONE, DRAW_OTHER, DRAWS };

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 1, .max = 1000,
     .doc = "different symbols around the marks"},
    PEAT_LENGTH_ROWS(struct config, 2, 2, "seq_len-3"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return MARKS + k->symbols;
}

static int64_t least(const void *config)
{
    (void)config;
    return MARKS;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int32_t first = peat_question_side(q, DRAW_SIDE) ? B : A;
    int64_t one = peat_question_draw(q, DRAW_ONE, q->n);
    int64_t other = peat_question_draw(q, DRAW_OTHER, q->n - 1);
    other += other >= one;
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = MARKS + peat_question_symbol(q, DRAWS + i, k->symbols);
    q->asked[one < other ? one : other] = first;
    q->asked[one < other ? other : one] = first == A ? B : A;
    q->answer[0] = first;
}

static const peat_sequence order = {
    .kind = PEAT_NAMED, .ids = ids, .least = least, .size = peat_size_one, .fill = fill};

PEAT_DEFINE_SEQUENCE(order, struct config, rows, "order", "1.0",
                     "say which of two marks came first", "")
