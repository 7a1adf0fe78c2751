/* SPDX-License-Identifier: MIT */
/*
 * stale.h: results that were made by other plugins than the present ones.
 *
 * Data and the engine's arithmetic need no comparison: they are part of a cell's identity. The
 * engine's version, processor, BLAS and compiler are provenance; a change of them makes no result
 * stale.
 */
#pragma once

#include "grid/rundir.h"

/* The first difference between the cell's meta.json and the present plugins (cell_plugins), "scheme
 * 'rotary' has changed"; NULL: no difference. A damaged meta.json counts as a difference, and so
 * does a missing one where there is a result or a checkpoint. */
const char *stale_reason(const struct cell_files *c, const struct value *present, struct arena *a);
/* Sets the state of finished cells of the plan: stale where a plugin or the cell's configuration
 * has changed since they ended, done again where nothing has. The directory is not touched. */
void stale_find(struct rundir *r, const struct plan *p, struct arena *a);
/* Writes or removes the cell's stale.json, which readers that load no plugins go by. */
peat_status stale_mark(const struct cell_files *c, const struct value *present, struct arena *a,
                       struct error *err);
