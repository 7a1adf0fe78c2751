/* SPDX-License-Identifier: MIT */
/* parity.c: is the number of ones even? Kazemnejad et al. 2023. */
#include <peat/sequence.h>

enum { ZERO = PEAT_FIRST_SYMBOL, ONE, ODD, EVEN, IDS = 4 };

struct config {
    peat_lengths length;
};

static const peat_param rows[] = {
    PEAT_LENGTH_ROWS(struct config, 3, 1, "seq_len-3"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    (void)config;
    return IDS;
}

static void fill(peat_question *q)
{
    int64_t ones = 0;
    for (int64_t i = 0; i < q->n; i++) {
        int64_t bit = peat_question_draw(q, i, 2);
        q->asked[i] = bit ? ONE : ZERO;
        ones += bit;
    }
    q->answer[0] = ones % 2 ? ODD : EVEN;
}

static const peat_sequence parity = {
    .kind = PEAT_NAMED, .ids = ids, .size = peat_size_one, .fill = fill};

PEAT_DEFINE_SEQUENCE(parity, struct config, rows, "parity", "1.0",
                     "say whether a number of ones is even", "arXiv:2305.19466")
