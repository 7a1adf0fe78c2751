/* SPDX-License-Identifier: MIT */
/* columns.h: texts in rows and aligned columns, measured as a terminal shows them. The output is
 * safe for a terminal (shown.h). */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"

struct table_column {
    const char *head;
    bool right; /* align right */
};

struct table_cell {
    const char *text;
    const char *mark; /* letters after the aligned text; "" */
    bool strong;
};

struct columns {
    struct arena *arena;
    int n; /* columns */
    int n_row, room;
    const struct table_column *column; /* NULL: no heads, all columns aligned left */
    struct table_cell *cell;           /* [n_row, n]                           */
};

/* n columns without heads, for columns_add(). */
void columns_init(struct columns *t, struct arena *arena, int n);
/* Copies the n texts of a row. */
void columns_add(struct columns *t, const char *const *text);
/* Prints a line for each row, which starts with `indent`; two spaces between columns. The last
 * column is not padded, and is wrapped on a terminal (shown.h). */
void columns_print(const struct columns *given, const char *indent, FILE *out);
/* Prints the rows with the first one as heads; in blocks (below) where a terminal is too narrow. */
void columns_print_blocks(const struct columns *given, int n_label, FILE *out);
/* Adds heads and rows in blocks of as many columns as fit the width. Each block begins with the
 * first n_label columns and ends with an empty line. Columns from `apart` on (0: no such columns)
 * have a block of their own when not all columns fit one. bold: strong cells by terminal control;
 * otherwise marked with '*'. */
void columns_add_blocks(const struct columns *given, int n_label, int apart, size_t width,
                        bool bold, struct strbuf *out);
