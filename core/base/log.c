/* SPDX-License-Identifier: MIT */
/* log.c: one line, one write: lines of several processes on one stream stay whole. */
#include "base/log.h"

#include "base/strbuf.h"

void log_line(const struct log *log, const char *fmt, ...)
{
    if (!log || !log->out)
        return;
    struct strbuf line;
    strbuf_init(&line);
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&line, fmt, args);
    va_end(args);
    strbuf_add_bytes(&line, "\n", 1);
    fwrite(line.text, 1, line.n, log->out);
    fflush(log->out);
    strbuf_release(&line);
}
