/* SPDX-License-Identifier: MIT */
/* error.c: error texts, and the end of a program with a bug. */

#include "base/base.h"

/* A position where a text may be cut: not inside a character of UTF-8. */
static size_t character_at(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* The beginning of a text says what and where, its end says why, so a text that does not fit loses
 * its middle. */
static void cut_middle(const char *text, size_t n, char *out, size_t room)
{
    static const char mark[] = " ... ";
    size_t half = (room - sizeof(mark)) / 2;
    size_t head = character_at(text, half), tail = n - half;
    while (((unsigned char)text[tail] & 0xc0) == 0x80)
        tail++;
    memcpy(out, text, head);
    memcpy(out + head, mark, sizeof(mark) - 1);
    memcpy(out + head + sizeof(mark) - 1, text + tail, n - tail + 1);
}

/* Arguments may point into err->text, so the new text is formatted elsewhere, with room for two
 * paths of the largest length. */
static void set_text(struct error *err, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void set_text(struct error *err, const char *fmt, va_list args)
{
    enum { LONGEST = 1 << 14 };
    char text[LONGEST];
    int n = vsnprintf(text, sizeof(text), fmt, args);
    size_t length = n < 0 ? 0 : strnlen(text, sizeof(text));
    if (length < sizeof(err->text))
        memcpy(err->text, text, length + 1);
    else
        cut_middle(text, length, err->text, sizeof(err->text));
    if (n < 0)
        err->text[0] = '\0';
}

peat_status error_set_args(struct error *err, peat_status status, const char *fmt, va_list args)
{
    if (!err)
        return status;
    set_text(err, fmt, args);
    err->status = status;
    return status;
}

peat_status error_set(struct error *err, peat_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_set_args(err, status, fmt, args);
    va_end(args);
    return status;
}

bool error_fail(struct error *err, peat_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_set_args(err, status, fmt, args);
    va_end(args);
    return false;
}

peat_status error_copy(struct error *err, const struct error *from)
{
    if (err && from->status != PEAT_OK)
        *err = *from;
    return from->status;
}

void error_prefix(struct error *err, const char *fmt, ...)
{
    if (!err)
        return;
    struct error prefix = {0};
    va_list args;
    va_start(args, fmt);
    set_text(&prefix, fmt, args);
    va_end(args);
    error_set(err, err->status, "%s: %s", prefix.text, err->text);
}

const char *status_text(peat_status status)
{
    switch (status) {
#define STATUS_CASE(name, value, text)                                                             \
    case PEAT_##name:                                                                              \
        return text;
        PEAT_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

/* Prints without memory that stdio might allocate. */
void give_up(const struct error *err)
{
    char line[sizeof(err->text) + 16];
    int n = snprintf(line, sizeof(line), "peat: %s\n", err->text);
    if (n > 0)
        (void)!write(STDERR_FILENO, line, (size_t)n);
    _exit(1);
}

void out_of_memory(const char *what)
{
    struct error err;
    error_set(&err, PEAT_NOMEM, "out of memory for %.80s", what);
    give_up(&err);
}

void bug(const char *file, int line, const char *fmt, ...)
{
    fprintf(stderr, "%s:%d: bug: ", file, line);
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
