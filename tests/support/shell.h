/* SPDX-License-Identifier: MIT */
/* shell.h: tests that use the program as a person would: by command, in their own directory.
 * PEAT, PEAT_SOURCE and PEAT_BUILD are set by ctest. */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include <stdbool.h>

#include "base/strbuf.h"

struct shell {
    char dir[64];          /* a fresh directory under /tmp */
    struct strbuf printed; /* by the last command: stdout and stderr */
};

void shell_open(struct shell *s);
/* Removes the directory. */
void shell_close(struct shell *s);
/* Runs a command there; returns its exit status, 128 + n for signal n. */
int shell_run(struct shell *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, and the test fails with what was printed unless the status is as expected. */
void shell_expect(struct shell *s, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes a file there. */
void shell_write(struct shell *s, const char *name, const char *text);
/* A file's bytes, which the caller frees; the test fails when there is none. */
char *shell_read(const struct shell *s, const char *name, size_t *n);
bool shell_has(const struct shell *s, const char *name);
/* True when the last command printed this. */
bool shell_printed(const struct shell *s, const char *text);

#endif
