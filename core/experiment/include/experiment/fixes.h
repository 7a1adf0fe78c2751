/* SPDX-License-Identifier: MIT */
/*
 * fixes.h: fixes the mistakes found so far in an experiment, so that the loader finds the next one.
 *
 * The loader stops at its first mistake. To report all of them, each is fixed in the tree that was
 * read, and the experiment is read again: the wrong name is replaced by the one that the message
 * proposes, or the wrong part is removed. A mistake that only follows from a removal is not the
 * user's and ends the search.
 */
#pragma once

#include "base/base.h"

enum { FIXES_MAX = 32 };

struct fix {
    struct place at;
    const char *said;          /* the message                                     */
    const char *name;          /* the replacement; NULL: the part is removed */
    bool taken;                /* the part is removed                             */
    bool ends;                 /* messages after this fix are not reliable */
    const char *was;           /* the wrong text; NULL: not known                  */
    int first_line, last_line; /* lines [first, last) in which mistakes may follow from the fix;
                                * last_line 0: none */
    int n_above, room;
    struct place *above; /* places of the parts around it */
};

struct fixes {
    struct arena *a;
    const char *path; /* path of the file; set when it is read */
    int n;
    struct fix item[FIXES_MAX];
};

/* Whether a message about the fixed experiment follows from a fix. */
bool fixes_explain(const struct fixes *m, const char *said);
/* Adds the fix of a mistake; false: there are FIXES_MAX already. A mistake without a place in the
 * file or on the command line changes nothing. */
bool fixes_add(struct fixes *m, const char *said);
/* Fixes the tree. For a word of the command line, see fixes_drop_word. */
void fixes_apply(struct fixes *m, struct value *root);
/* Whether the word at this place is to be removed. */
bool fixes_drop_word(const struct fixes *m, struct place at);
