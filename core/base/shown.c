/* SPDX-License-Identifier: MIT */
/* shown.c: writes out characters that a terminal would obey. */

#include "base/base.h"

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

static void print(FILE *out, const char *before, const char *keep, const char *after,
                  const char *fmt, va_list args) __attribute__((format(printf, 5, 0)));

static void print(FILE *out, const char *before, const char *keep, const char *after,
                  const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_NEW, shown = STRBUF_NEW;
    strbuf_addv(&text, fmt, args);
    strbuf_add(&shown, before);
    shown_add(&shown, text.text, keep);
    strbuf_add(&shown, after);
    strbuf_clear(&text);
    wrap_add(&text, shown.text, terminal_columns(out));
    fwrite(text.text, 1, text.n, out);
    strbuf_release(&text);
    strbuf_release(&shown);
}

void shown_vprint(FILE *out, const char *fmt, va_list args)
{
    print(out, "", "\n\t", "", fmt, args);
}

void shown_print(FILE *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    shown_vprint(out, fmt, args);
    va_end(args);
}

void line_print(FILE *out, const char *before, const char *fmt, va_list args)
{
    print(out, before, "\t", "\n", fmt, args);
    fflush(out);
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
