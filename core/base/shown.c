/* SPDX-License-Identifier: MIT */
/* shown.c: writes out characters that a terminal would obey, and breaks long lines. */

#include "base/base.h"
#include <sys/ioctl.h>

bool is_shown_as_code(uint32_t code)
{
    /* First and last of each range: controls, marks and changes of direction, line separators, and
     * a byte order mark. */
    static const uint32_t range[][2] = {{0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},
                                        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
                                        {0xfeff, 0xfeff}};
    bool found = false;
    for (size_t i = 0; i < sizeof(range) / sizeof(*range); i++)
        found = found || (code >= range[i][0] && code <= range[i][1]);
    return found;
}

static void add_code(struct strbuf *out, uint32_t code)
{
    static const char named[] = "\n\r\t", letter[] = "nrt";
    const char *found = code && code < 0x80 ? strchr(named, (int)code) : NULL;
    if (found)
        strbuf_addf(out, "\\%c", letter[found - named]);
    else
        strbuf_addf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
}

void shown_add_bytes(struct strbuf *out, const char *text, size_t n, const char *keep)
{
    for (size_t bytes; n; text += bytes, n -= bytes) {
        uint32_t code;
        size_t found = utf8_read((const unsigned char *)text, n, &code);
        bytes = found ? found : 1;
        bool kept = *text && strchr(keep, *text);
        if (!found)
            strbuf_addf(out, "\\x%02x", (unsigned char)*text);
        else if (is_shown_as_code(code) && !kept)
            add_code(out, code);
        else
            strbuf_add_bytes(out, text, bytes);
    }
}

void shown_add(struct strbuf *out, const char *text, const char *keep)
{
    shown_add_bytes(out, text, strlen(text), keep);
}

const char *shown_text(struct arena *a, const char *text)
{
    struct strbuf out = STRBUF_NEW;
    shown_add(&out, text, "");
    return strbuf_keep(&out, a);
}

/* ---- lines that are broken between words ---- */

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

/* ---- printing ---- */

/* A control character that the text lacks; 0: it has every one. */
static char absent_from(const char *text)
{
    char c = 1;
    while (c < ' ' && strchr(text, c))
        c++;
    return c < ' ' ? c : 0;
}

/* Adds the text with the line ends of the format, and with those of its arguments written out. The
 * format is printed a second time with another character for its own line ends, which tells the two
 * apart. */
static void add_formatted(struct strbuf *out, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void add_formatted(struct strbuf *out, const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_NEW, marked = STRBUF_NEW;
    va_list again;
    va_copy(again, args);
    strbuf_addv(&text, fmt, args);
    const char mark = absent_from(text.text), keep[] = {'\t', mark, 0};
    strbuf_add(&marked, fmt);
    for (char *at = marked.text; mark && (at = strchr(at, '\n'));)
        *at = mark;
    strbuf_clear(&text);
    strbuf_addv(&text, marked.text, again);
    va_end(again);
    size_t start = out->n;
    shown_add(out, text.text, keep);
    for (char *at = out->text + start; mark && (at = strchr(at, mark));)
        *at = '\n';
    strbuf_release(&marked);
    strbuf_release(&text);
}

static void print_wrapped(FILE *out, const char *text)
{
    struct strbuf wrapped = STRBUF_NEW;
    wrap_add(&wrapped, text, terminal_columns(out));
    fwrite(wrapped.text, 1, wrapped.n, out);
    strbuf_release(&wrapped);
}

void shown_vprint(FILE *out, const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_NEW;
    add_formatted(&text, fmt, args);
    print_wrapped(out, text.text);
    strbuf_release(&text);
}

void shown_print(FILE *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    shown_vprint(out, fmt, args);
    va_end(args);
}

void shown_print_lines(FILE *out, const char *text)
{
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, text, "\n\t");
    print_wrapped(out, shown.text);
    strbuf_release(&shown);
}

void line_print(FILE *out, const char *before, const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_NEW, shown = STRBUF_NEW;
    strbuf_addv(&text, fmt, args);
    strbuf_add(&shown, before);
    shown_add(&shown, text.text, "\t");
    strbuf_add(&shown, "\n");
    print_wrapped(out, shown.text);
    fflush(out);
    strbuf_release(&text);
    strbuf_release(&shown);
}

void log_line(const struct log *log, const char *fmt, ...)
{
    if (!log || !log->out)
        return;
    va_list args;
    va_start(args, fmt);
    line_print(log->out, "", fmt, args);
    va_end(args);
}
