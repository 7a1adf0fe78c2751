/* SPDX-License-Identifier: MIT */
/* loadplan.h: makes a plan from an experiment file and words of the command line. */
#pragma once

#include "cli/command.h"
#include "experiment/plan.h"

struct loaded_plan {
    struct arena arena; /* memory of all other fields */
    const char *dir;    /* the run directory that was named instead of a file; NULL: a file was
                         * named */
    struct experiment experiment;
    struct plan plan;
};

#define EXPERIMENT_OPERANDS                                                                        \
    CLI_OPERANDS("EXP.yaml|DIR [key=value ...]", 1, CLI_MANY, "no experiment file is given")

/* Reads the operands above, and the experiment as it is fixed (experiment/fixes.h; NULL: as it is).
 * Plugins run in a child (plan_make_apart). A failure has released *l. */
bool loaded_plan_open(struct loaded_plan *l, const struct cli *cli, enum plan_depth depth,
                      struct fixes *fixes, struct error *err);
/* The run directory: `given`, the one that was named, or runs/<name>. Cells that it has under
 * other labels keep their names. */
const char *loaded_plan_dir(struct loaded_plan *l, const char *given);
/* Whether the program that computes the cells (run.engine) and its device are here. */
bool loaded_plan_has_engine(struct loaded_plan *l, struct error *err);
void loaded_plan_close(struct loaded_plan *l);
