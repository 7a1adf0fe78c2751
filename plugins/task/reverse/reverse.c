/* SPDX-License-Identifier: MIT */
/* reverse.c: the answer is the question backwards. Kazemnejad et al. 2023. */
#include <peat/sequence.h>

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 2, .max = 1000,
     .doc = "different symbols"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "(seq_len-3)/2"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    for (int64_t i = 0; i < q->n; i++)
        q->answer[q->n - 1 - i] = q->asked[i] = peat_question_symbol(q, i, k->symbols);
}

static const peat_sequence reverse = {.ids = ids, .size = peat_size_equal, .fill = fill};

PEAT_DEFINE_SEQUENCE(reverse, struct config, rows, "reverse", "1.0",
                     "repeat a random sequence backwards", "arXiv:2305.19466")
