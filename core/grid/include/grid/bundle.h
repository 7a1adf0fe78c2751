/* SPDX-License-Identifier: MIT */
/*
 * bundle.h: a run directory to hand to someone else, as one file.
 *
 * A .tar.gz or .tar.xz with one folder, named after the experiment: the experiment as written and
 * as resolved, plan, claims, of each planned cell its configuration, provenance, thinned curve and
 * result, with whole curves or weights when asked for, and bundle.json about the bundle itself.
 * Unpacked it is a run directory. Equal directories give equal bytes: a bundle holds no time, owner
 * or place. Its members are regular files, whose names consist of the experiment's name, ids of
 * cells and fixed names.
 */
#pragma once

#include "grid/verify.h"

/* xz needs half the space, and a minute for a thousand cells. */
enum packing { PACKED_GZIP, PACKED_XZ };

extern const struct record bundle_record;

/* v: from verify_packed. curves: whole ones, as with weights, from which a cell can only go on with
 * the curve that they were sealed with. PEAT_CORRUPT: v has a problem. PEAT_INVALID: a link or a
 * special file is where a file should be, or a curve is thinned already. PEAT_FAILED: tar failed,
 * or is not installed. */
peat_status bundle_make(const struct verification *v, bool curves, enum packing packing,
                        struct strbuf *out, struct error *err);
/* The directory was unpacked from a bundle that had no weights. */
bool bundle_lacks_weights(const char *dir, struct arena *a);
