/* SPDX-License-Identifier: MIT */
/* wrap.c: breaks lines between words. */

#include "base/base.h"
#include <sys/ioctl.h>

enum { NARROWEST = 20, ESCAPE = '\033' };

size_t terminal_columns(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col < NARROWEST)
        return 0;
    return size.ws_col;
}

/* Columns of n bytes; a change of colour has no columns. */
static size_t columns_of(const char *text, size_t n)
{
    struct strbuf seen = STRBUF_NEW;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == ESCAPE)
            i += strcspn(text + i, "m");
        else
            strbuf_add_bytes(&seen, text + i, 1);
    }
    size_t columns = text_columns(seen.text);
    strbuf_release(&seen);
    return columns;
}

/* The indentation of continued lines: below the word after the last gap between columns in the
 * line's first half. */
static size_t indent_of(const char *line, size_t n, size_t width)
{
    size_t own = strspn(line, " "), indent = own + 2;
    for (size_t i = own; i + 2 < n; i++) {
        size_t at = columns_of(line, i + 2);
        if (at > width / 2)
            break;
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ')
            indent = at;
    }
    return indent;
}

static void wrap_line(struct strbuf *out, const char *line, size_t n, size_t width)
{
    size_t indent = indent_of(line, n, width), column = 0;
    bool first = true; /* first word of its line, which stays there even if it does not fit */
    for (size_t i = 0; i < n;) {
        size_t gap = 0, word = 0;
        while (i + gap < n && line[i + gap] == ' ')
            gap++;
        while (i + gap + word < n && line[i + gap + word] != ' ')
            word++;
        size_t wide = columns_of(line + i + gap, word);
        bool late = gap > 1 && column > width / 2 && /* the last column has little room */
                    column + gap + columns_of(line + i + gap, n - i - gap) > width;
        if (!first && (late || column + gap + wide > width)) {
            strbuf_add(out, "\n");
            strbuf_fill(out, ' ', indent);
            column = indent;
        } else {
            strbuf_fill(out, ' ', gap);
            column += gap;
        }
        strbuf_add_bytes(out, line + i + gap, word);
        column += wide;
        first = false;
        i += gap + word;
    }
}

void wrap_add(struct strbuf *out, const char *text, size_t width)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (width && columns_of(text, n) > width)
            wrap_line(out, text, n, width);
        else
            strbuf_add_bytes(out, text, n);
        text += n;
        if (*text == '\n') {
            strbuf_add(out, "\n");
            text++;
        }
    }
}
