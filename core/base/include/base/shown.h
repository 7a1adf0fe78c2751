/* SPDX-License-Identifier: MIT */
/*
 * shown.h: makes text of any origin safe to print; lines for people, no wider than the terminal.
 *
 * Labels, names of plugins and files, logs and reasons may contain any characters. A terminal obeys
 * control characters, and some others reverse or break a line. Such a character is written out: \n,
 * \r, \t; \x1b for another of ASCII; \u009b, \u202e beyond; \xff for a byte that is not UTF-8. All
 * other text stays as it is.
 */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* C0, DEL, C1, characters that change the direction of writing, and line separators. */
bool is_shown_as_code(uint32_t code);
/* Adds n bytes; the characters of `keep` ("\n\t") stay as they are. */
void shown_add_bytes(struct strbuf *out, const char *text, size_t n, const char *keep);
void shown_add(struct strbuf *out, const char *text, const char *keep);
/* The text with every such character escaped, in the arena. */
const char *shown_text(struct arena *a, const char *text);

/* The width of the terminal that `out` writes to; 0: not a terminal, or the width is not known. */
size_t terminal_columns(FILE *out);
/* Adds the text, breaking each line of more than `width` columns at spaces (0: no line). The
 * continuation starts below the last column of a row of columns, or indented by two. A longer word
 * stays whole. */
void wrap_add(struct strbuf *out, const char *text, size_t width);

/* Prints the line ends of the format; those of its arguments, which may come from a file, are
 * written out, so that no argument makes a line of its own. Tabs stay. Wrapped on a terminal. */
void shown_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void shown_vprint(FILE *out, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* Prints a text of several lines, made by functions of this header or of a table. */
void shown_print_lines(FILE *out, const char *text);

/* Prints `before`, the text (keeping tabs) and a newline in one write, so that lines of several
 * processes stay whole. */
void line_print(FILE *out, const char *before, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Where lines go: stderr, or a cell's log.txt. It is passed where it is needed. */
struct log {
    FILE *out; /* NULL: silent */
};
void log_line(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
