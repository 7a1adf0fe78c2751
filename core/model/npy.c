/* SPDX-License-Identifier: MIT */
/* npy.c: reading an array of NumPy's. */
#include "model/npy.h"

#include <stdlib.h>
#include <string.h>

#include "model/foreign_numbers.h"

enum { MAGIC_BYTES = 6, VERSION_BYTES = 2 };

static const char magic[] = "\x93NUMPY";

bool npy_is(const void *bytes, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0;
}

/* The header's text, which is a Python dict, while it is read. */
struct header {
    const char *path;
    const char *at, *end;
    struct error *err;
    enum number_kind kind;
    bool has_kind, has_order, has_shape;
    int rank;
    int64_t dim[PEAT_MAX_RANK];
};

static peat_status broken(const struct header *h, const char *what)
{
    return error_set(h->err, PEAT_INVALID, "'%s' is no array of NumPy's: %s", h->path, what);
}

static void skip_space(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

/* Skips this character, with spaces before it. */
static bool skip(struct header *h, char c)
{
    skip_space(h);
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* 'text' into word [room]. */
static bool read_quoted(struct header *h, char *word, size_t room)
{
    size_t n = 0;
    skip_space(h);
    char quote = h->at < h->end ? *h->at : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    for (h->at++; h->at < h->end && *h->at != quote; h->at++)
        if (n + 1 < room)
            word[n++] = *h->at;
    word[n] = '\0';
    return skip(h, quote);
}

static bool skip_word(struct header *h, const char *word)
{
    size_t n = strlen(word);
    skip_space(h);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

static peat_status read_kind(struct header *h)
{
    static const struct {
        const char *word;
        enum number_kind kind;
    } known[] = {{"<f2", NUMBERS_F16}, {"<f4", NUMBERS_F32}, {"<f8", NUMBERS_F64}};
    char word[16];
    if (!read_quoted(h, word, sizeof(word)))
        return error_set(h->err, PEAT_INVALID,
                         "'%s' has an array of records; weights are made of '<f2', '<f4' and '<f8'",
                         h->path);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        h->kind = known[i].kind;
        h->has_kind = true;
        if (strcmp(word, known[i].word) == 0)
            return PEAT_OK;
    }
    return error_set(h->err, PEAT_INVALID,
                     "'%s' has numbers of dtype '%s'; weights are made of '<f2', '<f4' and '<f8' "
                     "(float16, float32 and float64, little-endian)",
                     h->path, word);
}

static peat_status read_order(struct header *h)
{
    h->has_order = true;
    if (skip_word(h, "False"))
        return PEAT_OK;
    return skip_word(h, "True")
               ? error_set(h->err, PEAT_INVALID,
                           "'%s' is in Fortran order; save numpy.ascontiguousarray of it", h->path)
               : broken(h, "'fortran_order' is neither True nor False");
}

static bool read_whole(struct header *h, int64_t *x)
{
    *x = 0;
    skip_space(h);
    const char *first = h->at;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(*x, 10, x) || __builtin_add_overflow(*x, *h->at - '0', x))
            return false;
    return h->at > first;
}

/* (), (3,), (3, 4) */
static peat_status read_shape(struct header *h)
{
    bool more = true;
    h->has_shape = true;
    if (!skip(h, '('))
        return broken(h, "'shape' is no tuple");
    while (!skip(h, ')')) {
        if (h->rank == PEAT_MAX_RANK)
            return broken(h, "it has more than 6 axes");
        if (!more || !read_whole(h, &h->dim[h->rank++]))
            return broken(h, "'shape' is not of whole numbers");
        more = skip(h, ',');
    }
    return PEAT_OK;
}

static peat_status read_member(struct header *h)
{
    char key[16];
    if (!read_quoted(h, key, sizeof(key)) || !skip(h, ':'))
        return broken(h, "its header is no dict");
    if (strcmp(key, "descr") == 0 && !h->has_kind)
        return read_kind(h);
    if (strcmp(key, "fortran_order") == 0 && !h->has_order)
        return read_order(h);
    if (strcmp(key, "shape") == 0 && !h->has_shape)
        return read_shape(h);
    return broken(h, "its header has other keys than descr, fortran_order and shape");
}

static peat_status read_dict(struct header *h)
{
    bool more = true;
    if (!skip(h, '{'))
        return broken(h, "its header is no dict");
    while (!skip(h, '}')) {
        peat_status status = more ? read_member(h) : broken(h, "its header is no dict");
        if (status != PEAT_OK)
            return status;
        more = skip(h, ',');
    }
    skip_space(h);
    if (h->at != h->end || !h->has_kind || !h->has_order || !h->has_shape)
        return broken(h, "its header lacks descr, fortran_order or shape");
    return PEAT_OK;
}

/* The header's text between at and end; what follows is data. */
static peat_status find_header(struct header *h, const unsigned char *byte, size_t size)
{
    size_t before = MAGIC_BYTES + VERSION_BYTES, length = 0;
    if (size < before + 4)
        return broken(h, "it ends in its header");
    int version = byte[MAGIC_BYTES], bytes = version == 1 ? 2 : 4;
    if (version < 1 || version > 3)
        return broken(h, "its version is none of 1, 2 and 3");
    for (int i = 0; i < bytes; i++)
        length |= (size_t)byte[before + (size_t)i] << 8 * i;
    before += (size_t)bytes;
    if (length > size - before)
        return broken(h, "it ends in its header");
    h->at = (const char *)byte + before;
    h->end = h->at + length;
    return PEAT_OK;
}

static peat_status take(const struct header *h, size_t data, struct arena *a, struct tensor *t)
{
    const struct tensor shape = tensor_shape(PEAT_F32, h->rank, h->dim);
    int64_t n = tensor_count(&shape), bytes;
    if (n < 0 || __builtin_mul_overflow(n, (int64_t)number_bytes(h->kind), &bytes))
        return broken(h, "the size of its shape overflows");
    if ((uint64_t)bytes != data)
        return error_set(h->err, PEAT_INVALID,
                         "'%s' has %zu bytes of numbers, its shape takes %lld: is it cut?", h->path,
                         data, (long long)bytes);
    *t = numbers_read(h->kind, h->rank, h->dim, h->end, a);
    return t->data ? PEAT_OK
                   : error_set(h->err, PEAT_NOMEM, "no memory for the numbers of '%s'", h->path);
}

peat_status npy_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                      struct tensor *t, struct error *err)
{
    struct header h = {.path = path, .err = err};
    if (!npy_is(bytes, size))
        return broken(&h, "it begins otherwise");
    peat_status status = find_header(&h, bytes, size);
    if (status == PEAT_OK)
        status = read_dict(&h);
    return status == PEAT_OK ? take(&h, (size_t)((const char *)bytes + size - h.end), a, t)
                             : status;
}
