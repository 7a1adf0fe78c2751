/* SPDX-License-Identifier: MIT */
/*
 * word_vectors.h: vectors of words as text: what word2vec, GloVe and fastText write.
 *
 * A line is a word and its numbers, apart by spaces or a tab. Before them may stand a line of two
 * whole numbers, how many words and how wide, as word2vec writes it. A word may have spaces in it:
 * the numbers are counted from the end of the line. The text is UTF-8.
 */
#ifndef MODEL_WORD_VECTORS_H
#define MODEL_WORD_VECTORS_H

#include <stdint.h>

#include "base/error.h"

struct word_vectors {
    const char *path;
    int64_t width;
    int64_t promised; /* words that the first line says there are; -1: it says nothing */
    int64_t words;    /* read so far */
    int64_t line;     /* the one at hand, from 1 */
    const char *at, *end;
};

/* One line; borrowed from the text. */
struct word_vector {
    const char *word; /* NULL: there are no more */
    size_t n;         /* its bytes */
    const char *numbers, *end;
};

/* bytes and path are borrowed. Refuses bytes that are not text, and packed files. */
peat_status word_vectors_open(struct word_vectors *w, const void *bytes, size_t size,
                              const char *path, struct error *err);
/* The next line with a word; its numbers are counted, not read. At the end, an error when there are
 * not as many as the first line says. */
peat_status word_vectors_next(struct word_vectors *w, struct word_vector *v, struct error *err);
/* Its numbers into x [width]; all are finite in fp32. */
peat_status word_vectors_numbers(const struct word_vectors *w, const struct word_vector *v,
                                 double *x, struct error *err);

#endif
