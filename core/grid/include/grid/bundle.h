/* SPDX-License-Identifier: MIT */
/*
 * bundle.h: a run directory to hand to someone else, as one file.
 *
 * A .tar.gz or .tar.xz with one folder, named after the experiment: the experiment as written and
 * as resolved, plan, claims, of each planned cell its configuration, provenance, curve and result,
 * with weights when asked for, and bundle.json about the bundle itself. Unpacked it is a run
 * directory. Equal directories give equal bytes: there is no time, owner or place in it.
 */
#ifndef GRID_BUNDLE_H
#define GRID_BUNDLE_H

#include "grid/rundir.h"

/* Of bundle.json: "weights", the directory's "hash" and its "environment". */
extern const struct record bundle_record;

/* xz takes half of the room, and a minute for a thousand cells. */
enum packing { PACKED_GZIP, PACKED_XZ };

/* r: read by rundir_read. PEAT_CORRUPT: a cell is damaged. PEAT_FAILED: see tarball.h. */
peat_status bundle_make(const struct rundir *r, enum packing packing, bool weights,
                        struct strbuf *out, struct arena *a, struct error *err);
/* The directory was unpacked from a bundle that had no weights. */
bool bundle_lacks_weights(const char *dir, struct arena *a);

#endif
