/* SPDX-License-Identifier: MIT */
/* log.h: lines for people, to stderr or a cell's log.txt. A sink is passed where it is needed. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

struct log {
    FILE *out; /* NULL: silent */
};

void log_line(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints `before`, the text (with control characters as in shown.h) and a newline in one write, so
 * that lines of several processes stay whole. */
void line_print(FILE *out, const char *before, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
