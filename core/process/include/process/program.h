/* SPDX-License-Identifier: MIT */
/* program.h: the path and environment for starting this program again, for a cell or a check. */
#pragma once

#include "base/base.h"

/* The path of the running program. */
peat_status own_program(char *path, size_t n, struct error *err);
/* This process's environment with the variables for a cell of `threads` threads. They must be set
 * before exec, because libraries read them while they are loaded. */
char **cell_environment(struct arena *a, int64_t threads);
