/* SPDX-License-Identifier: MIT */
/* wrap.h: breaks lines that are wider than the terminal between words. */
#pragma once

#include <stdio.h>

#include "base/strbuf.h"

/* The width of the terminal that `out` writes to; 0: not a terminal, or the width is not known. */
size_t terminal_columns(FILE *out);
/* Adds the text, breaking each line of more than `width` columns at spaces (0: no line). The
 * continuation starts below the last column of a row of columns, or indented by two. A longer word
 * stays whole. */
void wrap_add(struct strbuf *out, const char *text, size_t width);
