/* SPDX-License-Identifier: MIT */
/* bag.c: which symbol occurs most often? Positions tell nothing. */
#include <peat/sequence.h>

enum { SYMBOLS_MAX = 1000 };

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 2,
     .max = SYMBOLS_MAX, .doc = "different symbols"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "seq_len-3"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols;
}

/* One of the symbols that occur most often, by a draw; *tied: how many do. */
static int32_t most_frequent(const peat_question *q, int64_t symbols, int64_t *tied)
{
    int64_t count[SYMBOLS_MAX] = {0}, most = 0;
    for (int64_t i = 0; i < q->n; i++)
        count[q->asked[i] - PEAT_FIRST_SYMBOL]++;
    *tied = 0;
    for (int64_t s = 0; s < symbols; s++) {
        *tied = count[s] > most ? 1 : *tied + (count[s] == most);
        most = count[s] > most ? count[s] : most;
    }
    int64_t chosen = peat_question_draw(q, q->n, *tied), winner = 0;
    for (int64_t s = 0; s < symbols; s++)
        if (count[s] == most && chosen-- == 0)
            winner = s;
    return PEAT_FIRST_SYMBOL + (int32_t)winner;
}

/* Where several lead, one of them takes the place of another symbol, and leads alone. */
static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int64_t tied;
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = peat_question_symbol(q, i, k->symbols);
    q->answer[0] = most_frequent(q, k->symbols, &tied);
    int64_t at = peat_question_draw(q, q->n + 1, q->n);
    while (tied > 1 && q->asked[at] == q->answer[0])
        at = (at + 1) % q->n;
    if (tied > 1)
        q->asked[at] = q->answer[0];
}

static const peat_sequence bag = {
    .kind = PEAT_NAMED, .ids = ids, .size = peat_size_one, .fill = fill};

PEAT_DEFINE_SEQUENCE(bag, struct config, rows, "bag", "1.0",
                     "name the symbol that occurs most often", "")
