/* SPDX-License-Identifier: MIT */
/* tokenwords.h: rows of the table of tokens by the words that tokens are to a reader. */
#ifndef CELL_TOKENWORDS_H
#define CELL_TOKENWORDS_H

#include "nn/weights.h"
#include "train/task.h"

struct token_words {
    const struct task *task;
    struct weight *weight; /* [V, width] */
    struct arena *arena;
    int64_t found; /* tokens that have a word  */
    int64_t words; /* that there are           */
};

/* Rows of tokens that the text has get its numbers, when the weight has memory; others stay as they
 * are. Of a word that is there twice the first counts. PEAT_REFUSED: of another width;
 * PEAT_INVALID: not one token is there. */
peat_status token_words_take(struct token_words *t, const void *bytes, size_t size,
                             const char *path, struct error *err);

#endif
