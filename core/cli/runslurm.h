/* SPDX-License-Identifier: MIT */
/* runslurm.h: the part of `peat run` that hands cells to Slurm. */
#pragma once

#include "cli/loadplan.h"
#include "grid/slurm.h"

struct run_slurm {
    struct slurm_array array;
    struct arena *arena;
    bool dry;               /* prints the scripts and submits nothing */
    bool launched;          /* set when there were cells to submit */
    struct slurm_jobs jobs; /* the jobs that were submitted        */
};

peat_status run_slurm_open(struct run_slurm *s, struct loaded_plan *l, const char *dir, bool dry,
                           struct error *err);
/* For runner_options.launch; ctx is a run_slurm. */
peat_status run_slurm_launch(void *ctx, const struct jobs *jobs, struct error *err);
/* Warns when Slurm may choose among several kinds of nodes because no constraint is set. */
void run_slurm_say_kinds(const struct slurm_settings *settings, struct arena *a);
/* Prints the jobs that were submitted; false: Slurm refused a part of them. */
bool run_slurm_say(const struct run_slurm *s);
