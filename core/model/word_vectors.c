/* SPDX-License-Identifier: MIT */
/* word_vectors.c: reading vectors of words line by line. */
#include "model/word_vectors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file_kind.h"
#include "base/number.h"
#include "base/strbuf.h"

enum { NUMBER_LONGEST = 63 };

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static peat_status at_line(const struct word_vectors *w, struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static peat_status at_line(const struct word_vectors *w, struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_set_args(err, PEAT_INVALID, fmt, args);
    va_end(args);
    error_prefix(err, "'%s', line %" PRId64, w->path, w->line);
    return PEAT_INVALID;
}

/* ---- fields, from the end of a line ---- */

/* Where the last field of [begin, end) begins; *end becomes its end. NULL: there is none. */
static const char *last_field(const char *begin, const char **end)
{
    const char *last = *end;
    while (last > begin && is_space(last[-1]))
        last--;
    *end = last;
    while (last > begin && !is_space(last[-1]))
        last--;
    return last < *end ? last : NULL;
}

static int64_t count_fields(const char *begin, const char *end)
{
    int64_t n = 0;
    for (const char *field; (field = last_field(begin, &end)); end = field)
        n++;
    return n;
}

/* [begin, end) of digits alone; -1: it is not. */
static int64_t whole_number(const char *begin, const char *end)
{
    int64_t x = 0;
    for (; begin < end && *begin >= '0' && *begin <= '9'; begin++)
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *begin - '0', &x))
            return -1;
    return begin == end ? x : -1;
}

/* ---- lines ---- */

/* The next line that is not empty, without spaces at its end; false: there is none. */
static bool next_line(struct word_vectors *w, const char **begin, const char **end)
{
    while (w->at < w->end) {
        const char *stop = memchr(w->at, '\n', (size_t)(w->end - w->at));
        *begin = w->at;
        *end = stop ? stop : w->end;
        w->at = stop ? stop + 1 : w->end;
        w->line++;
        while (*end > *begin && (is_space((*end)[-1]) || (*end)[-1] == '\r'))
            (*end)--;
        if (*end > *begin)
            return true;
    }
    return false;
}

/* "400000 300" */
static bool read_promise(struct word_vectors *w, const char *begin, const char *end)
{
    const char *stop = end, *width = last_field(begin, &stop);
    if (count_fields(begin, end) != 2)
        return false;
    const char *before = width, *words = last_field(begin, &before);
    w->width = whole_number(width, stop);
    w->promised = whole_number(words, before);
    return w->width > 0 && w->promised >= 0;
}

/* ---- opening ---- */

static peat_status check_text(const char *path, const unsigned char *byte, size_t size,
                              struct error *err)
{
    const char *kind = file_kind(byte, size);
    if (kind)
        return error_set(err, PEAT_INVALID, "'%s' is %s; vectors of words are text", path, kind);
    const unsigned char *zero = size ? memchr(byte, 0, size) : NULL;
    if (zero)
        return error_set(err, PEAT_INVALID,
                         "'%s' is no text, no array of NumPy's and no safetensors file: it has a "
                         "byte 0 at %zu",
                         path, (size_t)(zero - byte));
    return PEAT_OK;
}

peat_status word_vectors_open(struct word_vectors *w, const void *bytes, size_t size,
                              const char *path, struct error *err)
{
    const char *begin = bytes, *end = NULL;
    bool marked = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    *w = (struct word_vectors){
        .path = path, .promised = -1, .at = begin + (marked ? 3 : 0), .end = begin + size};
    peat_status status = check_text(path, bytes, size, err);
    if (status != PEAT_OK)
        return status;
    const struct word_vectors first = *w;
    if (!next_line(w, &begin, &end))
        return error_set(err, PEAT_INVALID, "'%s' is empty", path);
    if (read_promise(w, begin, end))
        return PEAT_OK;
    w->width = count_fields(begin, end) - 1;
    if (w->width < 1)
        return at_line(w, err, "a line is a word and its numbers");
    *w = (struct word_vectors){
        .path = path, .promised = -1, .width = w->width, .at = first.at, .end = first.end};
    return PEAT_OK;
}

/* ---- words ---- */

static bool is_utf8(const char *word, size_t n)
{
    uint32_t code;
    for (size_t bytes; n > 0; word += bytes, n -= bytes)
        if ((bytes = utf8_read((const unsigned char *)word, n, &code)) == 0)
            return false;
    return true;
}

static peat_status finish(const struct word_vectors *w, struct error *err)
{
    if (w->promised < 0 || w->promised == w->words)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' has %" PRId64 " words, and its first line says %" PRId64 ": is it cut?",
                     w->path, w->words, w->promised);
}

peat_status word_vectors_next(struct word_vectors *w, struct word_vector *v, struct error *err)
{
    const char *begin, *end;
    *v = (struct word_vector){0};
    if (!next_line(w, &begin, &end))
        return finish(w, err);
    const char *numbers = end, *stop = end;
    for (int64_t i = 0; i < w->width; i++) {
        numbers = last_field(begin, &stop);
        if (!numbers)
            return at_line(w, err, "%" PRId64 " numbers where %" PRId64 " are expected",
                           i > 0 ? i - 1 : 0, w->width);
        stop = numbers;
    }
    while (stop > begin && is_space(stop[-1]))
        stop--;
    if (stop == begin)
        return at_line(w, err, "%" PRId64 " numbers where %" PRId64 " are expected", w->width - 1,
                       w->width);
    *v = (struct word_vector){begin, (size_t)(stop - begin), numbers, end};
    w->words++;
    return is_utf8(v->word, v->n) ? PEAT_OK : at_line(w, err, "its word is not UTF-8");
}

/* Digits, a point and an exponent, no other word for a number; finite in fp32. */
static bool read_number(const char *begin, const char *end, double *x)
{
    char text[NUMBER_LONGEST + 1];
    size_t n = (size_t)(end - begin);
    if (n > NUMBER_LONGEST)
        return false;
    memcpy(text, begin, n);
    text[n] = '\0';
    if (strspn(text, "+-.0123456789eE") != n || !strpbrk(text, "0123456789"))
        return false;
    return number_read(text, x) && isfinite((float)*x);
}

peat_status word_vectors_numbers(const struct word_vectors *w, const struct word_vector *v,
                                 double *x, struct error *err)
{
    const char *end = v->end;
    for (int64_t i = w->width - 1; i >= 0; i--) {
        const char *field = last_field(v->numbers, &end);
        if (!field || !read_number(field, end, &x[i]))
            return at_line(w, err, "'%.*s' is no finite number", field ? (int)(end - field) : 0,
                           field ? field : "");
        end = field;
    }
    return PEAT_OK;
}
