/* SPDX-License-Identifier: MIT */
/* segments.c: checks texts and cuts them. */
#include "pieces.h"

static const unsigned char space_sign[] = {0xe2, 0x96, 0x81}; /* U+2581 */

peat_status text_file_check(const struct text_file *file, struct error *err)
{
    const char *kind = file_kind(file->byte, file->n);
    uint32_t code;
    if (file->n == 0)
        return error_set(err, PEAT_INVALID, "'%s' is empty", file->path);
    if (kind)
        return error_set(err, PEAT_INVALID, "'%s' is %s", file->path, kind);
    for (size_t at = 0, n; at < file->n; at += n) {
        n = utf8_read(file->byte + at, file->n - at, &code);
        if (n == 0)
            return error_set(err, PEAT_INVALID,
                             "'%s' is not UTF-8 at byte %zu; `iconv -t UTF-8` converts a text",
                             file->path, at);
        if (code == 0)
            return error_set(err, PEAT_INVALID, "'%s' is not text: byte %zu is 0", file->path, at);
    }
    return PEAT_OK;
}

static const unsigned char *nearest(const unsigned char *a, const unsigned char *b)
{
    return !a || (b && b < a) ? b : a;
}

/* The length of the whole characters in n bytes; n is more than four. */
static size_t whole_characters(const unsigned char *byte, size_t n)
{
    while ((byte[n] & 0xc0) == 0x80)
        n--;
    return n;
}

bool segment_next(struct segments *s, struct segment *out)
{
    while (s->at_file < s->n_file && s->at == s->file[s->at_file].n) {
        s->at_file++;
        s->at = 0;
    }
    if (s->at_file == s->n_file)
        return false;
    const struct text_file *file = &s->file[s->at_file];
    const unsigned char *byte = file->byte + s->at;
    size_t left = file->n - s->at, n = left < SEGMENT_MOST ? left : SEGMENT_MOST;
    const unsigned char *newline = memchr(byte, '\n', n);
    const unsigned char *sign = memmem(byte, n, space_sign, sizeof(space_sign));
    const unsigned char *end = nearest(newline, sign);
    *out = (struct segment){.file = s->at_file, .at = s->at, .byte = byte};
    if (end) {
        out->n = (size_t)(end - byte);
        out->gap = end == newline ? 1 : sizeof(space_sign);
    } else {
        out->n = n < left ? whole_characters(byte, n) : n;
    }
    s->at += out->n + out->gap;
    return true;
}
