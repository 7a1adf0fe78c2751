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

/* The first difference between the cell's meta.json and the present plugins, "scheme 'rotary' has
 * changed"; NULL when nothing differs. A damaged meta.json counts as a difference, and so does a
 * missing one where the cell has a result or a checkpoint. */
const char *stale_reason(const struct cell_files *c, const struct cell_config *present,
                         struct arena *a);
/* Gives finished cells of the plan whose plugins differ from the present ones the state stale, and
 * removes it from those whose plugins are equal again. Does not touch the directory. Returns the
 * number of stale cells. */
int stale_find(struct rundir *r, const struct plan *p, struct arena *a);
/* Writes or removes the cell's stale.json, for readers that load no plugins. */
peat_status stale_mark(const struct cell_files *c, const struct cell_config *present,
                       struct arena *a, struct error *err);
