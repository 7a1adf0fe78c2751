/* SPDX-License-Identifier: MIT */
/*
 * segments.h: texts as the lines that SentencePiece sees.
 *
 * Its programs read lines, write no id for a line's end, and treat U+2581, by which a piece denotes
 * a space, as a space. So a text is cut at both, and where a line is very long; what stands between
 * two segments is written as pieces of one byte each.
 */
#pragma once

#include "base/base.h"

/* Bytes of the longest segment. spm_train's bpe counts 65,535 characters at most. */
enum { SEGMENT_MOST = 1 << 12 };

struct text_file {
    const char *path, *hex;
    const unsigned char *byte;
    size_t n;
};

struct segments {
    const struct text_file *file;
    int n_file;
    int at_file; /* of the segment that comes next */
    size_t at;
};

struct segment {
    int file;
    size_t at; /* byte in the file */
    const unsigned char *byte;
    size_t n;
    size_t gap; /* bytes between it and the next: a newline, U+2581, or nothing */
};

/* False: there is none left. */
bool segment_next(struct segments *s, struct segment *out);
/* PEAT_INVALID: the file is empty, of another format, has a byte 0, or is not UTF-8 at a byte that
 * is named. */
peat_status text_file_check(const struct text_file *file, struct error *err);
