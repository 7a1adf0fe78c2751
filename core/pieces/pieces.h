/* SPDX-License-Identifier: MIT */
/* pieces.h: the parts of tokenize.c. */
#pragma once

#include "pieces/tokenize.h"

/*
 * segments.c: cuts texts into lines for SentencePiece.
 *
 * Its programs read lines, write no id for a line's end, and treat U+2581, by which a piece denotes
 * a space, as a space. So a text is cut at both, and where a line is very long; the bytes between
 * two segments are written as pieces of one byte each.
 */

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
    int at_file; /* number of the next segment's file */
    size_t at;
};

struct segment {
    int file;
    size_t at; /* byte offset in the file */
    const unsigned char *byte;
    size_t n;
    size_t gap; /* bytes between it and the next: a newline, U+2581, or no bytes */
};

/* False: no segment is left. */
bool segment_next(struct segments *s, struct segment *out);
/* PEAT_INVALID: the file is empty, of another format, has a byte 0, or is not UTF-8; the message
 * names the byte. */
peat_status text_file_check(const struct text_file *file, struct error *err);

/* ---- piece_table.c: the bytes of each piece ---- */
/* Id 0 is SentencePiece's unknown piece, which no text contains; then come one id for each byte. */
enum { PIECE_OF_BYTE = 1, PIECES_FIXED = 257 };

struct piece_table {
    int n;
    struct piece {
        const char *byte;
        size_t n;
    } * item;
};

/* Reads the list that spm_train writes: a line for each piece, with its text (a space is U+2581), a
 * tab and a score. PEAT_CORRUPT: it is not such a list. */
peat_status piece_table_read(struct piece_table *t, const char *path, struct arena *a,
                             struct error *err);
/* Writes lines `id, tab, bytes, tab, text`; backslashes and characters that are not printable UTF-8
 * are escaped. */
void piece_table_write(const struct piece_table *t, struct strbuf *out);

/* ---- ids_file.c: an array of NumPy's that is written id by id ---- */
enum { IDS_HEADER = 128, IDS_HELD = 1 << 16 };

struct ids_file {
    const char *path;
    int fd;
    int width; /* bytes of an id: 2 or 4 */
    int64_t n;
    size_t held;
    unsigned char buffer[IDS_HELD];
};

/* Ids of 2 bytes where all are below 65,536, otherwise of 4. */
peat_status ids_file_open(struct ids_file *f, const char *path, int64_t vocab, struct error *err);
peat_status ids_file_add(struct ids_file *f, int32_t id, struct error *err);
/* Writes the header and syncs, unless `status` is an error, which it returns; closes the file. */
peat_status ids_file_close(struct ids_file *f, peat_status status, struct error *err);

/* ---- spm.c: SentencePiece's programs, in the folder where a text is tokenized ---- */
/* Files of that folder. */
#define SPM_TEXT   "text"                /* segments, one a line */
#define SPM_LEARN  "learn"               /* segments from which pieces are learned */
#define SPM_MODEL  "sentencepiece.model" /* the model that spm_train writes */
#define SPM_PIECES "sentencepiece.vocab" /* its list of pieces */
#define SPM_IDS    "ids"                 /* output of spm_encode: the ids of each line */
#define SPM_SAID   "said"                /* messages of both programs */

/* Makes SPM_MODEL and SPM_PIECES from SPM_LEARN. */
peat_status spm_learn(const struct tokenize *t, const char *dir, struct arena *a,
                      struct error *err);
/* Makes SPM_IDS from SPM_MODEL and SPM_TEXT. */
peat_status spm_encode(const struct tokenize *t, const char *dir, struct arena *a,
                       struct error *err);
/* "0.1.97"; "" when spm_train does not print it. */
const char *spm_version(struct arena *a);
