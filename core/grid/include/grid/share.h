/* SPDX-License-Identifier: MIT */
/* share.h: how many cells run at once, and in how many threads each, where `auto` leaves it open.
 */
#pragma once

#include "process/machine.h"

struct share {
    int64_t jobs, threads; /* 0: auto */
};

/* Several jobs of one thread use cores better than one job of several, so cells come first: one for
 * each core and as many as memory has room for, `cell_bytes` each; threads take the cores that are
 * left. Given values stay. Neither changes a bit of a result. */
struct share share_machine(struct share given, int64_t cells, int64_t cell_bytes,
                           const struct machine *m);
