/* SPDX-License-Identifier: MIT */
/* spawn.h: starting the process of a cell. */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

enum { SPAWN_SHARED = 3 };

/* Starts argv[0] in its own process group, with default signals, standard input empty and both
 * outputs appended to `log`, which is made when it does not exist. argv and env end in NULL. */
peat_status process_start(char *const *argv, char *const *env, const char *log, pid_t *pid,
                          struct error *err);
/* The same, and `share` is the new process's descriptor SPAWN_SHARED. */
peat_status process_start_sharing(char *const *argv, char *const *env, const char *log, int share,
                                  pid_t *pid, struct error *err);
/* This process's environment with what a cell computing in `threads` threads needs. It has to be
 * set before exec: libraries read it while they are loaded. NULL: out of memory. */
char **cell_environment(struct arena *a, int64_t threads);
/* The path of the running program. */
peat_status own_program(char *path, size_t n, struct error *err);
/* To the whole group of a process that was started so. */
void process_signal(pid_t pid, int signal);

#endif
