/* SPDX-License-Identifier: MIT */
/* strbuf.h: growable text. text is always terminated and never NULL.
 * Running out of memory ends the process with one line, as in arena.h. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct strbuf {
    char *text;
    size_t n, room;
};

/* An empty buffer: struct strbuf line = STRBUF_NEW; room 0 marks text that was not allocated. */
#define STRBUF_NEW ((struct strbuf){.text = (char *)""})
void strbuf_init(struct strbuf *b);
/* Frees the memory and leaves an empty, usable buffer. */
void strbuf_release(struct strbuf *b);
/* Empties the buffer and keeps its memory. */
void strbuf_clear(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *text);
void strbuf_add_bytes(struct strbuf *b, const void *bytes, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_addv(struct strbuf *b, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Adds an item of a list that is the buffer's only content: ", " goes before all but the first. */
void strbuf_item(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds n texts with ", " between them. */
void strbuf_join(struct strbuf *b, const char *const *text, int n);
/* Adds one word of the shell, in quotes where it needs them. */
void strbuf_add_word(struct strbuf *b, const char *text);
/* Adds n copies of c. */
void strbuf_fill(struct strbuf *b, char c, size_t n);
/* The text, to be freed by the caller; the buffer is empty afterwards. */
char *strbuf_detach(struct strbuf *b);
/* The text in the arena; the buffer is released. */
struct arena;
char *strbuf_keep(struct strbuf *b, struct arena *a);
/* The text with `by` instead of every `old`. */
char *text_replaced(const char *text, const char *old, const char *by, struct arena *a);

/* Bytes of the UTF-8 character that starts at s, and its code. 0 when the first n bytes do not
 * begin with one: a stray byte, an overlong form, half of a surrogate pair, or beyond U+10FFFF. A
 * text that ends with NUL may have any n. */
size_t utf8_read(const unsigned char *s, size_t n, uint32_t *code);
/* Columns of a terminal that UTF-8 text fills. */
size_t text_columns(const char *text);
/* Bytes of the whole characters at the start of the text that fit so many columns. */
size_t text_fit(const char *text, size_t columns);
