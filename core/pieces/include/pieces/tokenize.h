/* SPDX-License-Identifier: MIT */
/*
 * tokenize.h: from texts to a folder of token ids, which the task `tokens` reads.
 *
 * Pieces of words are learned and looked up by SentencePiece's programs (Kudo and Richardson 2018):
 * unigram (Kudo 2018) or byte-pair encoding (Sennrich et al. 2016). The ids encode any text byte
 * for byte, as docs/guide.md, "Pieces of words", explains.
 */
#pragma once

#include "base/base.h"

enum pieces_model { PIECES_UNIGRAM, PIECES_BPE };
extern const char *const pieces_model_word[2];

/* The unknown piece, which no text contains, one piece for each byte, and one more. */
enum { PIECES_LEAST = 258, PIECES_MOST = 1 << 20 };

struct tokenize {
    const char *const *file; /* [n] texts in UTF-8, one after another */
    int n;
    int64_t vocab;
    enum pieces_model model;
    int64_t learn_mib;  /* pieces are learned from so much of the text, taken evenly over it */
    const char *dir;    /* the folder to make; there must not be one */
    int64_t bytes, ids; /* answered */
};

/* The same files and settings give the same bytes at any number of processors. Prints its
 * steps on stderr. PEAT_INVALID: a text, vocab or dir does not fit, or SentencePiece is missing;
 * PEAT_NOTFOUND: a file or python3 is missing; *err is untouched where the child has printed why.
 * On an error, and when a stop ends the process, no folder is left. */
peat_status tokenize(struct tokenize *t, struct arena *a, struct error *err);
