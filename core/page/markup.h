/* SPDX-License-Identifier: MIT */
/* markup.h: pieces of HTML. Every text from outside the program is escaped here. */
#pragma once

#include "base/base.h"

/* & < > " ' escaped; control characters as base/shown.h has them. */
void html_text(struct strbuf *out, const char *text);
/* Adds the text as <pre>, with its line ends and tabs, then the markup `after`. */
void html_lines(struct strbuf *out, const char *text, const char *after);
void html_textf(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Escaped text between two pieces of markup. */
void html_wrap(struct strbuf *out, const char *before, const char *text, const char *after);

void html_section(struct strbuf *out, const char *id, const char *title);
void html_end_section(struct strbuf *out);
/* The same, folded behind its heading unless `open`. */
void html_fold(struct strbuf *out, const char *id, const char *title, bool open);
void html_end_fold(struct strbuf *out);

/* A table: html_open_table, its columns, html_open_rows, its rows, html_close_table. number: a
 * column of numbers, aligned right. */
void html_open_table(struct strbuf *out);
void html_column(struct strbuf *out, const char *head, bool number);
void html_open_rows(struct strbuf *out);
void html_close_row(struct strbuf *out);
void html_close_table(struct strbuf *out);
