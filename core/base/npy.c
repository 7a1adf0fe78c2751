/* SPDX-License-Identifier: MIT */
/* npy.c: reads an array in NumPy's format. */

#include "base/base.h"

enum { MAGIC_BYTES = 6, VERSION_BYTES = 2 };

static const char magic[] = "\x93NUMPY";

bool npy_is(const void *bytes, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0;
}

/* A cursor in the header's text, which is a Python dict. */
struct header {
    struct npy *f;
    const char *at, *end;
    struct error *err;
    unsigned seen; /* a bit for each of the members */
};

static peat_status broken(const struct header *h, const char *what)
{
    return error_set(h->err, PEAT_INVALID, "'%s' is not a NumPy array: %s", h->f->path, what);
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

static bool read_quoted(struct header *h, char *word, size_t room)
{
    size_t n = 0;
    skip_space(h);
    char quote = h->at < h->end ? *h->at : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    for (h->at++; h->at < h->end && *h->at != quote; h->at++) {
        if (n + 1 == room || *h->at < ' ')
            return false;
        word[n++] = *h->at;
    }
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

/* Bytes of a number of this dtype; 0: not a number that can be read. */
static size_t number_width(const char *dtype)
{
    bool known = strlen(dtype) == 3 && strchr("<>|", dtype[0]) && strchr("fiu", dtype[1]) &&
                 strchr("1248", dtype[2]);
    return known ? (size_t)(dtype[2] - '0') : 0;
}

static peat_status read_dtype(struct header *h)
{
    if (!read_quoted(h, h->f->dtype, sizeof(h->f->dtype)))
        return error_set(h->err, PEAT_INVALID,
                         "'%s' has an array of records, or a dtype that cannot be read; numbers "
                         "have one such as '<f4' or '<u2'",
                         h->f->path);
    h->f->width = number_width(h->f->dtype);
    return PEAT_OK;
}

static peat_status read_order(struct header *h)
{
    if (skip_word(h, "False"))
        return PEAT_OK;
    return skip_word(h, "True")
               ? error_set(h->err, PEAT_INVALID,
                           "'%s' is in Fortran order; save numpy.ascontiguousarray of it",
                           h->f->path)
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

/* Reads (), (3,) or (3, 4). */
static peat_status read_shape(struct header *h)
{
    bool more = true;
    if (!skip(h, '('))
        return broken(h, "'shape' is not a tuple");
    while (!skip(h, ')')) {
        if (h->f->rank == PEAT_MAX_RANK)
            return broken(h, "it has more than 6 axes");
        if (!more || !read_whole(h, &h->f->dim[h->f->rank++]))
            return broken(h, "'shape' is not of whole numbers");
        more = skip(h, ',');
    }
    return PEAT_OK;
}

static const struct {
    const char *key;
    peat_status (*read)(struct header *h);
} members[] = {{"descr", read_dtype}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { MEMBERS = sizeof(members) / sizeof(*members), ALL_SEEN = (1 << MEMBERS) - 1 };

static peat_status read_member(struct header *h)
{
    char key[16];
    if (!read_quoted(h, key, sizeof(key)) || !skip(h, ':'))
        return broken(h, "its header is not a dict");
    for (int i = 0; i < MEMBERS; i++)
        if (strcmp(key, members[i].key) == 0 && !(h->seen >> i & 1)) {
            h->seen |= 1U << i;
            return members[i].read(h);
        }
    return broken(h, "its header has other keys than descr, fortran_order and shape");
}

static peat_status read_dict(struct header *h)
{
    bool more = true;
    if (!skip(h, '{'))
        return broken(h, "its header is not a dict");
    while (!skip(h, '}')) {
        peat_status status = more ? read_member(h) : broken(h, "its header is not a dict");
        if (status != PEAT_OK)
            return status;
        more = skip(h, ',');
    }
    skip_space(h);
    if (h->at != h->end || h->seen != ALL_SEEN)
        return broken(h, "its header lacks descr, fortran_order or shape");
    return PEAT_OK;
}

/* Reads the header's text between at and end; the data follow it. */
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

static peat_status measure(const struct header *h, size_t data)
{
    struct npy *f = h->f;
    int64_t bytes;
    f->n = 1;
    f->data = (const unsigned char *)h->end;
    for (int i = 0; i < f->rank; i++)
        if (__builtin_mul_overflow(f->n, f->dim[i], &f->n))
            return broken(h, "the size of its shape overflows");
    if (__builtin_mul_overflow(f->n, (int64_t)f->width, &bytes))
        return broken(h, "the size of its shape overflows");
    if (f->width == 0 || (uint64_t)bytes == data)
        return PEAT_OK;
    return error_set(h->err, PEAT_INVALID,
                     "'%s' has %zu bytes of numbers, its shape takes %" PRId64 ": is it cut?",
                     f->path, data, bytes);
}

peat_status npy_open(struct npy *f, const void *bytes, size_t size, const char *path,
                     struct error *err)
{
    struct header h = {.f = f, .err = err};
    *f = (struct npy){.path = path};
    if (!npy_is(bytes, size))
        return broken(&h, "it begins otherwise");
    peat_status status = find_header(&h, bytes, size);
    if (status == PEAT_OK)
        status = read_dict(&h);
    return status == PEAT_OK ? measure(&h, (size_t)((const char *)bytes + size - h.end)) : status;
}

/* ---- whole numbers ---- */

/* Number i, sign-extended to 64 bits. */
static uint64_t whole_at(const struct npy *f, int64_t i)
{
    const unsigned char *byte = f->data + (size_t)i * f->width;
    uint64_t x = 0;
    for (size_t k = 0; k < f->width; k++)
        x = x << 8 | byte[f->dtype[0] == '>' ? k : f->width - 1 - k];
    bool negative = f->dtype[1] == 'i' && x >> (8 * f->width - 1);
    return negative && f->width < 8 ? x | UINT64_MAX << 8 * f->width : x;
}

static peat_status not_an_id(const struct npy *f, int64_t i, struct error *err)
{
    char text[32];
    uint64_t x = whole_at(f, i);
    snprintf(text, sizeof(text), f->dtype[1] == 'i' ? "%" PRId64 : "%" PRIu64, x);
    return error_set(err, PEAT_INVALID,
                     "'%s' has the number %s at place %" PRId64
                     "; token ids are from 0 to 2147483647",
                     f->path, text, i);
}

peat_status npy_ids(const struct npy *f, struct arena *a, const int32_t **id, struct error *err)
{
    if (f->width == 0 || f->dtype[1] == 'f')
        return error_set(err, PEAT_INVALID,
                         "'%s' has numbers of dtype '%s'; token ids are whole numbers, such as "
                         "'<u2', '<i4' or '<i8'",
                         f->path, f->dtype);
    if (f->rank != 1)
        return error_set(err, PEAT_INVALID,
                         "'%s' has an array of %d axes; token ids are on one: save array.ravel()",
                         f->path, f->rank);
    int32_t *out = ARENA_TRY_ARRAY(a, f->n + 1, int32_t);
    if (!out)
        return error_set(err, PEAT_NOMEM, "no memory for the ids of '%s'", f->path);
    for (int64_t i = 0; i < f->n; i++) {
        uint64_t x = whole_at(f, i);
        if (x > INT32_MAX)
            return not_an_id(f, i, err);
        out[i] = (int32_t)x;
    }
    *id = out;
    return PEAT_OK;
}
