/* SPDX-License-Identifier: MIT */
/* text_index.h: finds the number of a text without comparing it with all texts. */
#pragma once

#include "base/arena.h"

/* Zeroed: empty. */
struct text_index {
    int n, room;
    struct text_slot {
        const char *text; /* borrowed; NULL: free */
        int number;
    } * slot;
};

/* Adds a text with its number. Of equal texts the first keeps its number. */
void text_index_add(struct text_index *x, struct arena *a, const char *text, int number);
/* -1: no such text. */
int text_index_find(const struct text_index *x, const char *text);
