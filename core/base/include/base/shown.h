/* SPDX-License-Identifier: MIT */
/*
 * shown.h: text of any origin on its way to a person.
 *
 * Labels, names of plugins and files, logs and reasons are other people's words. A terminal obeys
 * control characters, and some others change the order in which a line is read or break it. Shown,
 * such a character is written out: \n, \r, \t; \x1b for another of ASCII; \u009b, \u202e beyond;
 * \xff for a byte that is not UTF-8. All other text stays as it is.
 */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* C0, DEL, C1, what turns the direction of writing, and separators of lines. */
bool is_shown_as_code(uint32_t code);
/* Adds n bytes; the characters of `keep` ("\n\t") stay as they are. */
void shown_add_bytes(struct strbuf *out, const char *text, size_t n, const char *keep);
void shown_add(struct strbuf *out, const char *text, const char *keep);
/* With nothing kept, in the arena. */
const char *shown_text(struct arena *a, const char *text);

/* Prints text with its line ends and tabs; all else as above. On a terminal wrapped (wrap.h). */
void shown_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void shown_vprint(FILE *out, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
