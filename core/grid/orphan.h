/* SPDX-License-Identifier: MIT */
/*
 * orphan.h: cell processes whose parent has died. They end by themselves, but perhaps not yet.
 *
 * Called by who holds the lock of the run directory, so every cell that was started by a parent
 * is an orphan. Cells that somebody runs by `peat cell` alone, here or elsewhere, are not.
 */
#pragma once

#include "grid/rundir.h"

/* Ends a running cell that is an orphan, which has `grace` seconds to save its state: *ended.
 * Otherwise `who` names the process that runs it: "process 12 on host h". */
peat_status orphan_end(const struct cell_files *c, double grace, bool *ended, char who[128],
                       struct error *err);
