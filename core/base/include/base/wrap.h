/* SPDX-License-Identifier: MIT */
/* wrap.h: lines that are longer than a terminal is wide, broken between words. */
#pragma once

#include <stdio.h>

#include "base/strbuf.h"

/* The width of the terminal that `out` writes to; 0: it is none, or does not say. */
size_t terminal_columns(FILE *out);
/* Adds the text, each line of more than `width` columns broken at spaces (0: none is). What follows
 * stands below the last column of a row of columns, or two places in. A longer word stays whole. */
void wrap_add(struct strbuf *out, const char *text, size_t width);
