/* SPDX-License-Identifier: MIT */
/*
 * error.h: how failures are reported.
 *
 * Three kinds, never mixed. A programmer's mistake is BUG: it prints and aborts. A mistake of the
 * user or the environment is a peat_status with a text in struct error, which the function that
 * notices it fills; success leaves it untouched. A numerical event is a result of the run, not an
 * error. Texts start in lower case, have no final stop, and quote the user's words with '.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include <peat/types.h>

struct error {
    peat_status status;
    char text[1024];
};

/* Fills err (may be NULL) and returns status. A text that does not fit, as with a very long path,
 * loses its middle, because the reason is at its end. */
peat_status error_set(struct error *err, peat_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* error_set for functions that return whether they succeeded: returns false. */
bool error_fail(struct error *err, peat_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
peat_status error_set_args(struct error *err, peat_status status, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
/* Copies `from` into err (may be NULL), unless it is PEAT_OK; returns its status. */
peat_status error_copy(struct error *err, const struct error *from);
/* Puts "prefix: " before the present text. */
void error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "out of memory" and the like. */
const char *status_text(peat_status status);

/* For a list of names ended by NULL, or NULL itself (empty): their number, and the index of the
 * word; -1: it is not among them, or is NULL. */
int names_count(const char *const *name);
int names_find(const char *const *name, const char *word);
/* The index of the text among n; -1: it is not among them. */
int texts_find(const char *const *text, int n, const char *word);
/* The index of the word among n names; "a-b" and "a_b" are the same name unless both exist. -1: it
 * is not among them. */
int name_index(const char *const *name, int n, const char *word);
/* The nearest to word of n names, by edit distance; NULL when none is near enough to suggest. */
const char *nearest_name(const char *word, const char *const *name, int n);
/* "; did you mean 'NAME'?" with that name, or "". */
enum { SUGGESTION = 96 };
const char *suggestion(const char *word, const char *const *name, int n, char text[SUGGESTION]);
/* Adds the suggestion to the text when one of n names is near to word. */
void error_add_nearest(struct error *err, const char *word, const char *const *name, int n);
/* Adds the n names, separated by commas, and the nearest one. */
void error_add_names(struct error *err, const char *word, const char *const *name, int n);

/* Ends the process with status 1 and one line, without flushing unfinished output. For texts,
 * settings and others whose size follows from the user's words. */
_Noreturn void out_of_memory(const char *what);

/* Ends the process in the same way with the line of err: for a failure of the environment inside a
 * computation that cannot return it. */
_Noreturn void give_up(const struct error *err);

_Noreturn void bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_UNLESS(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            BUG("%s does not hold", #condition);                                                   \
    } while (0)
