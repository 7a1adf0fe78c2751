/* SPDX-License-Identifier: MIT */
/* spm.h: SentencePiece's programs, in the folder where a text is tokenized. */
#pragma once

#include "pieces/tokenize.h"

/* Files of that folder. */
#define SPM_TEXT   "text"                /* segments, one a line */
#define SPM_LEARN  "learn"               /* those that pieces are learned from */
#define SPM_MODEL  "sentencepiece.model" /* what spm_train has learned */
#define SPM_PIECES "sentencepiece.vocab" /* its list of pieces */
#define SPM_IDS    "ids"                 /* what spm_encode writes: ids of each line */
#define SPM_SAID   "said"                /* what both print */

/* SPM_MODEL and SPM_PIECES from SPM_LEARN. */
peat_status spm_learn(const struct tokenize *t, const char *dir, struct arena *a,
                      struct error *err);
/* SPM_IDS from SPM_MODEL and SPM_TEXT. */
peat_status spm_encode(const struct tokenize *t, const char *dir, struct arena *a,
                       struct error *err);
/* "0.1.97"; "" when spm_train does not say it. */
const char *spm_version(struct arena *a);
