/* SPDX-License-Identifier: MIT */
/* share.h: the number of cells that run at once, and of threads of each, where they are `auto`. */
#pragma once

#include "process/machine.h"

struct share {
    int64_t jobs, threads; /* 0: auto */
};

/* Several jobs of one thread use cores better than one job of several threads. So cells come first:
 * one for each core, as many as fit into memory with `cell_bytes` each; threads use the remaining
 * cores. Values that are given stay. Neither changes a bit of a result. */
struct share share_machine(struct share given, int64_t cells, int64_t cell_bytes,
                           const struct machine *m);
