/* SPDX-License-Identifier: MIT */
/*
 * columns.h: texts in rows and aligned columns, measured as a terminal shows them. Their
 * output is safe for one (shown.h).
 */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"

struct table_column {
    const char *head;
    bool right; /* aligned */
};

struct table_cell {
    const char *text;
    const char *mark; /* letters behind the aligned text; "" */
    bool strong;
};

struct columns {
    struct arena *arena;
    int n; /* columns */
    int n_row, room;
    const struct table_column *column; /* NULL: without heads, all to the left */
    struct table_cell *cell;           /* [n_row, n]                           */
};

/* n columns without heads, for columns_add(). */
void columns_init(struct columns *t, struct arena *arena, int n);
/* Copies the n texts of a row. */
void columns_add(struct columns *t, const char *const *text);
/* A line for each row, which starts with `indent`; two spaces between columns. The last column is
 * as its texts are, wrapped on a terminal (wrap.h). */
void columns_print(const struct columns *given, const char *indent, FILE *out);
/* The same with the first row as heads, in blocks as below where a terminal is too narrow. */
void columns_print_blocks(const struct columns *given, int n_label, FILE *out);
/* Heads and rows in blocks of as many columns as fit the width. Each block begins with the first
 * n_label columns and ends with an empty line. Columns from `apart` (0: none) on stand in a block
 * of their own when not all fit one. bold: strong cells by terminal control; otherwise marked
 * with '*'. */
void columns_add_blocks(const struct columns *given, int n_label, int apart, size_t width,
                        bool bold, struct strbuf *out);
