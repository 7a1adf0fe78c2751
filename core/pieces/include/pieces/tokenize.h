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
    int64_t learn_mib; /* MiB of the text from which pieces are learned, spread evenly over it */
    const char *dir;   /* the folder to make, which must not exist */
    /* Called with a line for people that says what is running. */
    void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
    int64_t bytes, ids; /* set by tokenize */
};

/* The same files and settings give the same bytes at any number of processors. PEAT_INVALID: a
 * text, vocab or dir that does not fit; PEAT_NOTFOUND: a file or SentencePiece is missing. On an
 * error, and when a stop ends the process, no folder is left. */
peat_status tokenize(struct tokenize *t, struct arena *a, struct error *err);
