/* SPDX-License-Identifier: MIT */
/* lookfile.h: looks.json of a run directory whose seeds are added until the claims are decided: the
 * cells that are not needed any more. It follows from the results and the claims. */
#pragma once

#include "grid/rundir.h"

#define LOOKS_FILE "looks.json"
extern const struct record looks_record;

/* look: the number of looks made; id [n]: the cells that no later look needs. */
peat_status looks_keep(const char *dir, int look, int n, const char *const *id, struct arena *a,
                       struct error *err);
/* Gives cells of the file that were never started the state CELL_DECIDED. Changes nothing without
 * the file. PEAT_CORRUPT: the file is damaged. */
peat_status looks_mark(struct rundir *r, struct arena *a, struct error *err);
