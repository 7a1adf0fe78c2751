/* SPDX-License-Identifier: MIT */
/* log.c: prints a line in one write, so lines of several processes on one stream stay whole. */

#include "base/base.h"

void line_print(FILE *out, const char *before, const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_NEW, line = STRBUF_NEW;
    strbuf_addv(&text, fmt, args);
    strbuf_add(&line, before);
    shown_add(&line, text.text, "\t");
    strbuf_add(&line, "\n");
    strbuf_clear(&text);
    wrap_add(&text, line.text, terminal_columns(out));
    fwrite(text.text, 1, text.n, out);
    fflush(out);
    strbuf_release(&text);
    strbuf_release(&line);
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
