/* SPDX-License-Identifier: MIT */
/* sort.c: the answer is the question's symbols in their order. Kazemnejad et al. 2023. */
#include <peat/sequence.h>
#include <stdlib.h>
#include <string.h>

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 50, .min = 2, .max = 1000,
     .doc = "different symbols, in the order of their ids"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "(seq_len-3)/2"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols;
}

static int by_id(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = peat_question_symbol(q, i, k->symbols);
    memcpy(q->answer, q->asked, (size_t)q->n * sizeof(*q->answer));
    qsort(q->answer, (size_t)q->n, sizeof(*q->answer), by_id);
}

static const peat_sequence sorting = {.ids = ids, .size = peat_size_equal, .fill = fill};

PEAT_DEFINE_SEQUENCE(sorting, struct config, rows, "sort", "1.0", "sort a random sequence",
                     "arXiv:2305.19466")
