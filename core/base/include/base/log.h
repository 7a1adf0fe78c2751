/* SPDX-License-Identifier: MIT */
/* log.h: lines for people, to stderr or a cell's log.txt. A sink is passed where it is needed. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

struct log {
    FILE *out; /* NULL: silent */
};

void log_line(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
