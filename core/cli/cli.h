/* SPDX-License-Identifier: MIT */
/*
 * cli.h: exit codes, messages, output, and how the process starts and ends.
 *
 * Results go to stdout, everything else to stderr.
 */
#pragma once

#include "base/base.h"

/* All exit codes. */
enum exit_code {
    CLI_DONE = 0,   /* every cell done or diverged                                          */
    CLI_FAILED = 1, /* a cell failed, a check or comparison failed, or the disk is full       */
    CLI_USAGE = 2,  /* nothing was run: usage, configuration, missing data, no such directory */
    CLI_STOPPED = STOPS_CODE /* SIGINT, SIGTERM or SIGHUP                                       */
};

/* Prints "peat: text" on stderr, as one line in one write. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints what went wrong before anything was run; returns CLI_USAGE. */
int cli_refuse(const struct error *err);
/* Prints a mistake in the call of `command` ("peat run"), and how to get help; CLI_USAGE. */
int cli_mistake(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints text on stdout, safe for a terminal (base/shown.h). */
void cli_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes the text into the file, whole or not at all; NULL: to stdout, unchanged. */
peat_status cli_write(const char *file, const struct strbuf *text, struct error *err);

/* The width in columns of output to `file` (NULL: stdout): that of the terminal, within these
 * bounds; 100 where it is no terminal. */
int cli_width(const char *file, int narrowest, int widest);

/* Call before anything else. Opens descriptors 0 to 2 if they are closed. From then on
 * writing to a reader that has gone or beyond `ulimit -f` is an error instead of a deadly
 * signal, and a stop ends the process with CLI_STOPPED. Too small a stack (`ulimit -s`)
 * ends the process with a line. */
void cli_start(void);
/* The exit code after all output has reached stdout: a full disk makes it CLI_FAILED. */
int cli_finish(int code);
