/* SPDX-License-Identifier: MIT */
/*
 * one_node_slurm.h: a one-node Slurm for a test: its own daemons on free loopback ports, with all
 * their files in one directory. They end with the process that started them, however it ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct one_node_slurm {
    char dir[64];
    pid_t munged, slurmctld, slurmd; /* 0: not running */
};

/* Why there can be none here; NULL: there can. */
const char *one_node_missing(void);
/* Returns when the node takes jobs, and sets SLURM_CONF. False: what went wrong was printed. */
bool one_node_open(struct one_node_slurm *s);
/* Cancels all jobs, ends the daemons and removes the directory. */
void one_node_close(struct one_node_slurm *s);
