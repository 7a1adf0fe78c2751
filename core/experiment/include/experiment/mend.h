/* SPDX-License-Identifier: MIT */
/*
 * mend.h: an experiment without the mistakes that were found so far, so that the next one is found.
 *
 * The loader stops at its first mistake. To report all of them, each is mended in the tree that was
 * read: the name that its message proposes takes the place of the wrong one, or the wrong part is
 * taken out, and the experiment is read again. A mistake that only follows from what was taken out
 * is not one of the user's, and ends the search.
 */
#pragma once

#include "base/base.h"

enum { MENDS_MAX = 32 };

struct mend {
    struct place at;
    const char *said;          /* the message                                     */
    const char *name;          /* what takes its place; NULL: the part is taken out */
    bool taken;                /* out                                             */
    bool ends;                 /* nothing can be said of what is left             */
    const char *was;           /* the text that was; NULL: none                    */
    int first_line, last_line; /* of its section, the last not included; 0: see find_section */
    int n_above, room;
    struct place *above; /* of the parts that it stood in */
};

struct mends {
    struct arena *a;
    const char *path; /* of the file; set when it is read */
    int n;
    struct mend item[MENDS_MAX];
};

/* Whether the message, of the experiment as it is mended so far, follows from a mend. */
bool mends_explain(const struct mends *m, const char *said);
/* Adds the mend of a mistake; false: there are MENDS_MAX. One without a place in the file or the
 * words mends nothing. */
bool mends_add(struct mends *m, const char *said);
/* Mends the tree. Of a word of the command line: see mends_drop_word. */
void mends_apply(struct mends *m, struct value *root);
/* Whether the word at this place is taken out. */
bool mends_drop_word(const struct mends *m, struct place at);
