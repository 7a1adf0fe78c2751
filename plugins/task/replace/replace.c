/* SPDX-License-Identifier: MIT */
/* replace.c: "replace a with b in a a a": the answer is b b b. Kazemnejad et al. 2023. */
#include <peat/sequence.h>

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 2, .max = 1000,
     .doc = "different symbols"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "(seq_len-5)/2"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols;
}

static void size(const void *config, int64_t n, int64_t *n_asked, int64_t *n_answer)
{
    (void)config;
    *n_asked = n + 2;
    *n_answer = n;
}

/* Any ordered pair of two different symbols. */
static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int32_t a = peat_question_symbol(q, 0, k->symbols);
    int32_t b = peat_question_symbol(q, 1, k->symbols - 1);
    b += b >= a;
    q->asked[0] = a;
    q->asked[1] = b;
    for (int64_t i = 0; i < q->n; i++) {
        q->asked[2 + i] = a;
        q->answer[i] = b;
    }
}

static const peat_sequence replacing = {.ids = ids, .size = size, .fill = fill};

PEAT_DEFINE_SEQUENCE(replacing, struct config, rows, "replace", "1.0",
                     "repeat one symbol as often as another is given", "arXiv:2305.19466")
