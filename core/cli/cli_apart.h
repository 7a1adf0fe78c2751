/* SPDX-License-Identifier: MIT */
/* cli_apart.h: commands that load plugins, kept apart from the program that was called. */
#ifndef CLI_CLI_APART_H
#define CLI_CLI_APART_H

#include "process/trail.h"

/* Runs the body of a command, which prints and returns an exit code, in a child process. A plugin
 * that takes the child down is one line and CLI_USAGE. The child is a fork: no threads yet. */
int cli_apart(int (*body)(void *ctx, struct trail *trail), void *ctx);

#endif
