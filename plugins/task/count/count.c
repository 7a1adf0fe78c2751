/* SPDX-License-Identifier: MIT */
/* count.c: how long is the question? Kazemnejad et al. 2023. */
#include <peat/sequence.h>

enum { COPIES, LETTERS };

struct config {
    peat_lengths length;
    int64_t of, symbols, modulus;
};

static const char *const kinds[] = {"copies", "letters", NULL};

static const peat_param rows[] = {
    {"of", PEAT_ENUM, offsetof(struct config, of), .preset = COPIES, .labels = kinds,
     .doc = "what is counted: copies of one symbol, or random symbols"},
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 26, .min = 2, .max = 1000,
     .doc = "different symbols"},
    {"modulus", PEAT_INT, offsetof(struct config, modulus), .preset = 10, .min = 2, .max = 100000,
     .doc = "the answer is the length modulo this"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "seq_len-3"),
    PEAT_PARAM_END,
};

/* Symbols, then numbers. */
static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols + k->modulus;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = peat_question_symbol(q, k->of == COPIES ? 0 : i, k->symbols);
    q->answer[0] = PEAT_FIRST_SYMBOL + (int32_t)(k->symbols + q->n % k->modulus);
}

static const peat_sequence counting = {
    .kind = PEAT_NAMED, .ids = ids, .size = peat_size_one, .fill = fill};

PEAT_DEFINE_SEQUENCE(counting, struct config, rows, "count", "1.0", "say how long a sequence is",
                     "arXiv:2305.19466")
