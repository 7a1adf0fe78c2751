/* SPDX-License-Identifier: MIT */
/* cellmeta.h: provenance: which plugins, data, engine and machine made a result. */
#pragma once

#include "cell/cell.h"

/* The content of meta.json: plugins, data, engine, arithmetic, abi, host, cpu, gemm, blas,
 * blas_core, libm, precision, compiler, build, threads, started_utc. data: see cell_data. */
peat_status cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
                      struct value **meta, struct error *err);
/* The files that plugins read, then those that weights start from, with their SHA-256: [{path,
 * sha256}]; for a cell's weights also the run directory, as "run". */
peat_status cell_data(const struct cell_config *c, struct arena *a, struct value **list,
                      struct error *err);
/* [{kind, id, version, abi, path, sha256}] of task, schemes and combination. */
struct value *cell_plugins(const struct cell_config *c, struct arena *a);
/* The first of the present plugins that is recorded by its kind and id, and never with its hash;
 * NULL: none. Both are such lists, or NULL. */
const struct value *plugins_changed(const struct value *present, const struct value *recorded);
/* The keys, ended by NULL, of what decides bits beside the configuration, whose hash covers
 * precision, plugins and data. A checkpoint with others is not continued; threads and the level of
 * our own loops decide nothing. */
extern const char *const deciding_keys[];
/* "0.1.0" */
const char *engine_version(void);
