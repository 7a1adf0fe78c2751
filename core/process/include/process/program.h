/* SPDX-License-Identifier: MIT */
/* program.h: this program, to be started again for a cell or a check. */
#pragma once

#include "base/base.h"

/* The path of the running program. */
peat_status own_program(char *path, size_t n, struct error *err);
/* This process's environment with the variables for a cell of `threads` threads. It has to be set
 * before exec: libraries read it while they are loaded. */
char **cell_environment(struct arena *a, int64_t threads);
