/* SPDX-License-Identifier: MIT */
/* columns.h: text in aligned columns. The last column is neither padded nor cut. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include <stdio.h>

#include "base/arena.h"

enum { COLUMNS_MAX = 12 };

struct columns {
    struct arena *arena;
    int n; /* columns */
    int n_row, room;
    const char *const **row;
};

void columns_init(struct columns *t, struct arena *arena, int n);
/* Copies the n texts of a row. */
void columns_add(struct columns *t, const char *const *cell);
/* Each line starts with `indent`; two spaces between columns. */
void columns_print(const struct columns *t, const char *indent, FILE *out);

#endif
