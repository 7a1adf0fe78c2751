/* SPDX-License-Identifier: MIT */
/* marked.c: which symbol stands where the mark is? A stream of the task's own says where. */
#include <peat/sequence.h>

enum { MARK_IDS = 2 };

struct config {
    peat_lengths length;
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 10, .min = 2, .max = 1000,
     .doc = "different symbols"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "seq_len-3"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    const struct config *k = config;
    return k->symbols;
}

static int64_t mark_ids(const void *config)
{
    (void)config;
    return MARK_IDS;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int64_t at = peat_question_draw(q, 0, q->n);
    for (int64_t i = 0; i < q->n; i++)
        q->asked[i] = peat_question_symbol(q, 1 + i, k->symbols);
    q->answer[0] = q->asked[at];
    q->own[at] = 1;
}

static const peat_sequence marked = {.kind = PEAT_NAMED,
                                     .ids = ids,
                                     .size = peat_size_one,
                                     .fill = fill,
                                     .stream = "mark",
                                     .stream_ids = mark_ids};

PEAT_DEFINE_SEQUENCE(marked, struct config, rows, "marked", "1.0",
                     "name the symbol that a stream of the task's own marks", "")
