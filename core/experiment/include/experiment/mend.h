/* SPDX-License-Identifier: MIT */
/*
 * mend.h: mends the mistakes found so far in an experiment, so that the loader finds the next one.
 *
 * The loader stops at its first mistake. To report all of them, each is mended in the tree that was
 * read, and the experiment is read again: the wrong name is replaced by the one that the message
 * proposes, or the wrong part is removed. A mistake that only follows from a removal is not the
 * user's and ends the search.
 */
#pragma once

#include "base/base.h"

enum { MENDS_MAX = 32 };

struct mend {
    struct place at;
    const char *said;          /* the message                                     */
    const char *name;          /* the replacement; NULL: the part is removed */
    bool taken;                /* the part is removed                             */
    bool ends;                 /* messages after this mend are not reliable */
    const char *was;           /* the wrong text; NULL: not known                  */
    int first_line, last_line; /* lines [first, last) in which mistakes may follow from the mend;
                                * last_line 0: none */
    int n_above, room;
    struct place *above; /* places of the parts around it */
};

struct mends {
    struct arena *a;
    const char *path; /* path of the file; set when it is read */
    int n;
    struct mend item[MENDS_MAX];
};

/* Whether a message about the mended experiment follows from a mend. */
bool mends_explain(const struct mends *m, const char *said);
/* Adds the mend of a mistake; false: there are MENDS_MAX already. A mistake without a place in the
 * file or on the command line changes nothing. */
bool mends_add(struct mends *m, const char *said);
/* Mends the tree. For a word of the command line, see mends_drop_word. */
void mends_apply(struct mends *m, struct value *root);
/* Whether the word at this place is to be removed. */
bool mends_drop_word(const struct mends *m, struct place at);
