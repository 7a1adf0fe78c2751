/* SPDX-License-Identifier: MIT */
/* text_index.h: which number a text has, found without looking at all of them. */
#pragma once

#include "base/arena.h"

/* Zero: empty. */
struct text_index {
    int n, room;
    struct text_slot {
        const char *text; /* borrowed; NULL: free */
        int number;
    } * slot;
};

/* Of equal texts the first keeps its number. */
void text_index_add(struct text_index *x, struct arena *a, const char *text, int number);
/* -1: it is not there. */
int text_index_find(const struct text_index *x, const char *text);
