/* SPDX-License-Identifier: MIT */
/* machine.h: what this process may use of the machine it runs on. */
#pragma once

#include "base/base.h"

struct machine {
    /* At least 1. Of the processors that the process may run on, those that share a core count as
     * one: products keep a core busy with one thread. No more than the quota of its cgroups. */
    int cores;
    /* Bytes that can be taken without swapping, and that the limits of its cgroups leave; INT64_MAX
     * where nothing says it. */
    int64_t free_bytes;
};

/* root: "", or in tests a directory with files as they stand in /proc and /sys. */
void machine_look(struct machine *m, const char *root);
