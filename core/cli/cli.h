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
    CLI_FAILED = 1, /* a cell failed, a check or comparison failed, the disk filled           */
    CLI_USAGE = 2,  /* nothing was run: usage, configuration, missing data, no such directory */
    CLI_STOPPED = STOPS_CODE /* SIGINT, SIGTERM or SIGHUP                                       */
};

/* "peat: text" on stderr, as one line in one write. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Says what went wrong before anything was run; returns CLI_USAGE. */
int cli_refuse(const struct error *err);
/* A mistake in how `command` ("peat run") was called, and how to get help; returns CLI_USAGE. */
int cli_mistake(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints text on stdout, safe for a terminal (base/shown.h). */
void cli_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes into the file, whole or not at all; NULL: to stdout, as it is. */
peat_status cli_write(const char *file, const struct strbuf *text, struct error *err);

/* Columns of the terminal that text goes to, between these bounds; 100 where it goes elsewhere. */
int cli_width(const char *file, int narrowest, int widest);

/* Before anything else: descriptors 0 to 2 are open, writing to a reader that has gone or beyond
 * `ulimit -f` is an error rather than death, a stop ends the process with CLI_STOPPED, and too
 * small a stack (`ulimit -s`) ends it with a line. */
void cli_start(void);
/* The exit code, after all that was printed has reached stdout: a full disk makes CLI_FAILED. */
int cli_finish(int code);

/* Runs the body of a command that loads plugins, which prints and returns an exit code, in a child
 * process. A plugin that takes the child down is one line and CLI_USAGE. */
struct trail;
int cli_apart(int (*body)(void *ctx, struct trail *trail), void *ctx);
