/* SPDX-License-Identifier: MIT */
/* selective_copy.c: repeat what is not blank. Gu and Dao 2023, section 4.1. */
#include <peat/sequence.h>

struct config {
    peat_lengths length;
    int64_t symbols, marked;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 14, .min = 2, .max = 1000,
     .doc = "different symbols, without the blank"},
    {"marked", PEAT_INT, offsetof(struct config, marked), .preset = 4, .min = 1, .max = 1000,
     .unit = "symbols", .doc = "how many places are not blank"},
    PEAT_LENGTH_ROWS(struct config, 4, 1, "seq_len-marked-3"),
    PEAT_PARAM_END,
};

/* The blank comes after the symbols. */
static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols + 1;
}

static int64_t least(const void *config)
{
    const struct config *k = config;
    return k->marked;
}

static void size(const void *config, int64_t n, int64_t *n_asked, int64_t *n_answer)
{
    const struct config *k = config;
    *n_asked = n;
    *n_answer = k->marked;
}

/* Every choice of places is as likely: place i is one of those left with its fair chance. */
static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int64_t said = 0;
    for (int64_t i = 0; i < q->n; i++) {
        bool here = peat_question_draw(q, i, q->n - i) < k->marked - said;
        q->asked[i] = PEAT_FIRST_SYMBOL + (int32_t)k->symbols;
        if (here) {
            q->asked[i] = peat_question_symbol(q, q->n + i, k->symbols);
            q->answer[said++] = q->asked[i];
        }
    }
}

static const peat_sequence selecting = {.ids = ids, .least = least, .size = size, .fill = fill};

PEAT_DEFINE_SEQUENCE(selecting, struct config, rows, "selective_copy", "1.0",
                     "repeat the symbols that stand among blanks", "arXiv:2312.00752")
