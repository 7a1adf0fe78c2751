/* SPDX-License-Identifier: MIT */
/* piece_table.h: the bytes that each piece stands for. */
#pragma once

#include "base/base.h"

/* Id 0 is SentencePiece's unknown piece, which no text has; then one for each byte. */
enum { PIECE_OF_BYTE = 1, PIECES_FIXED = 257 };

struct piece_table {
    int n;
    struct piece {
        const char *byte;
        size_t n;
    } * item;
};

/* From the list that spm_train writes: a line for each piece, its text (a space is U+2581), a tab
 * and a score. PEAT_CORRUPT: it is not what this table is read from. */
peat_status piece_table_read(struct piece_table *t, const char *path, struct arena *a,
                             struct error *err);
/* Lines `id, tab, bytes, tab, text`; a backslash and what is not printable UTF-8 are escaped. */
void piece_table_write(const struct piece_table *t, struct strbuf *out);
