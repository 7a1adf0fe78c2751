/* SPDX-License-Identifier: MIT */
/* needle.c: which symbol follows the mark? */
#include <peat/sequence.h>

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 2, .max = 1000,
     .doc = "different symbols, without the mark"},
    PEAT_LENGTH_ROWS(struct config, 2, 2, "seq_len-3"),
    PEAT_PARAM_END,
};

/* The mark comes after the symbols. */
static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols + 1;
}

static int64_t least(const void *config)
{
    (void)config;
    return 2;
}

/* Evaluation has all depths alike. */
static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int64_t at = peat_question_kind(q, q->n, q->n - 1);
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = peat_question_symbol(q, i, k->symbols);
    q->asked[at] = PEAT_FIRST_SYMBOL + (int32_t)k->symbols;
    q->answer[0] = q->asked[at + 1];
}

static const peat_sequence needle = {
    .kind = PEAT_NAMED, .ids = ids, .least = least, .size = peat_size_one, .fill = fill};

PEAT_DEFINE_SEQUENCE(needle, struct config, rows, "needle", "1.0",
                     "name the symbol that follows a mark", "")
