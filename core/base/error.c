/* SPDX-License-Identifier: MIT */
/* error.c: error texts, suggestions for mistyped names, and the end of a program with a bug. */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where a text may be cut: not inside a character of UTF-8. */
static size_t character_at(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* What and where stand at the beginning of a text and the reason at its end: what does not fit is
 * left out of the middle. */
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

/* Arguments may point into err->text, so the new text is made aside: with room for two paths as
 * long as there are. */
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

/* Without the memory that stdio might ask for. */
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

static bool is_spelled(const char *name, const char *word)
{
    while (*name && (*name == *word || (strchr("-_", *name) && *word && strchr("-_", *word)))) {
        name++;
        word++;
    }
    return *name == *word;
}

int name_index(const char *const *name, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], word) == 0)
            return i;
    for (int i = 0; i < n; i++)
        if (is_spelled(name[i], word))
            return i;
    return -1;
}

enum { NAME_MAX_LENGTH = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/*
 * Insertions, deletions, substitutions and swaps of neighbours that turn a into b; case is free.
 *   d[i][j] = min(d[i-1][j] + 1, d[i][j-1] + 1, d[i-1][j-1] + (a_i != b_j),
 *                 d[i-2][j-2] + 1 when a_i a_{i-1} = b_{j-1} b_j)
 */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
    int row[3][NAME_MAX_LENGTH + 1];
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int ca = lower(a[i - 1]), cb = lower(b[j - 1]);
            int best = min_int(last[j], now[j - 1]) + 1;
            best = min_int(best, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == lower(b[j - 2]) && lower(a[i - 2]) == cb)
                best = min_int(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *nearest_name(const char *word, const char *const *name, int n)
{
    size_t length = strlen(word);
    if (length > NAME_MAX_LENGTH)
        return NULL;
    int nearest = length < 2 ? 0 : length < 6 ? 1 : (int)length / 3;
    const char *found = NULL;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(name[i]);
        if (other > NAME_MAX_LENGTH)
            continue;
        int distance = edit_distance(word, (int)length, name[i], (int)other);
        if (distance < nearest || (distance == nearest && !found)) {
            nearest = distance;
            found = name[i];
        }
    }
    return found;
}

void error_add_nearest(struct error *err, const char *word, const char *const *name, int n)
{
    const char *near = err ? nearest_name(word, name, n) : NULL;
    if (near)
        error_set(err, err->status, "%s; did you mean '%s'?", err->text, near);
}

void error_add_names(struct error *err, const char *word, const char *const *name, int n)
{
    for (int i = 0; err && i < n; i++)
        error_set(err, err->status, "%s%s%s", err->text, i ? ", " : "", name[i]);
    error_add_nearest(err, word, name, n);
}
