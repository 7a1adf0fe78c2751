/* SPDX-License-Identifier: MIT */
/* shell.h: tests that use the program as a person would: by command, in their own directory.
 * PEAT, PEAT_SOURCE and PEAT_BUILD are set by ctest. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

/* The one there is: shell_open and shell_close are a fixture. */
extern struct shell {
    char dir[64];          /* a fresh directory */
    struct strbuf printed; /* by the last command: stdout and stderr */
} shell;

void shell_open(void);
/* Removes the directory. */
void shell_close(void);
/* From now on a bad address ends a sanitized program by its signal, as any other: a sanitizer would
 * end it in its own way before. */
void shell_keep_signals(void);
/* Runs a command there, which finds the program as `peat`; returns its exit status, 128 + n for
 * signal n. */
int shell_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Runs a command; the test fails with what was printed unless the status is as expected. */
void shell_expect(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* shell_expect, and the test fails unless this is a whole line of what was printed. */
void shell_prints(int status, const char *line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* shell_expect, and the test fails unless this was printed, in whole words and numbers: a part of a
 * line that varies with the machine, time or folder. */
void shell_says(int status, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes a file there. */
void shell_write(const char *name, const char *text);
/* A file's bytes, which the caller frees; the test fails when there is none. */
char *shell_read(const char *name, size_t *n);
bool shell_has(const char *name);
/* True when the last command printed this, be it a part of a word. */
bool shell_printed(const char *text);
/* The test fails unless the last command printed this, in whole words and numbers. */
void assert_printed(const char *text);

/* Shell: whether a file of the pattern is there. ls itself fails where one of several is replaced
 * between the shell's list and its look. */
#define ANY(pattern) "[ -n \"$(ls -d " pattern " 2>/dev/null)\" ]"
/* Shell: waits until the condition holds, for some minutes; its status is the condition's. */
#define UNTIL(condition)                                                                           \
    "for i in $(seq 4000); do " condition " && break; sleep 0.05; done; [ $i -lt 4000 ]"
/* Shell: interrupts the command when the condition holds; its status is the command's. */
#define INTERRUPTED(command, condition)                                                            \
    command " & pid=$!; " UNTIL(condition) " || exit 9; kill -TERM $pid; wait $pid"
