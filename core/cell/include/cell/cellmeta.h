/* SPDX-License-Identifier: MIT */
/* cellmeta.h: provenance: which plugins, data, engine and machine made a result. */
#pragma once

#include "cell/cell.h"

/* The content of meta.json: plugins, data, engine, arithmetic, abi, host, cpu, gemm, blas,
 * blas_core, libm, precision, compiler, build, threads, started_utc. data: see cell_data. False: a
 * file of the data cannot be read. */
bool cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
               struct value **meta, struct error *err);
/* The files that plugins read, then those that weights start from, with their SHA-256: [{path,
 * sha256}]; for a cell's weights also the run directory, as "run". */
bool cell_data(const struct cell_config *c, struct arena *a, struct value **list,
               struct error *err);
/* [{kind, id, version, abi, path, sha256}] of task, schemes and combination. */
struct value *cell_plugins(const struct cell_config *c, struct arena *a);
/* The first present plugin whose kind and id are in `recorded`, but never with its present hash;
 * NULL: none. Both are lists as cell_plugins makes them, or NULL. */
const struct value *plugins_changed(const struct value *present, const struct value *recorded);
/* The keys of meta.json, ended by NULL, whose values decide bits. A cell is not continued from a
 * checkpoint with other values. Precision, plugins and data decide bits too, but the hash of the
 * configuration covers them. Threads and the level of the engine's own loops change no bit. */
extern const char *const deciding_keys[];
/* "0.1.0" */
const char *engine_version(void);
