/* SPDX-License-Identifier: MIT */
/* machine.h: the resources of the machine that this process may use. */
#pragma once

#include "base/base.h"

struct machine {
    /* At least 1. Processors that share a core count as one, because products keep a core busy with
     * one thread. At most the quota of its cgroups. */
    int cores;
    /* Bytes that can be allocated without swapping and within the limits of its cgroups; INT64_MAX:
     * not known. */
    int64_t free_bytes;
};

/* root: "", or in tests a directory with copies of files of /proc and /sys. */
void machine_look(struct machine *m, const char *root);
