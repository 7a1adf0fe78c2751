/* SPDX-License-Identifier: MIT */
/* cellmeta.h: provenance: which plugins, data, engine and machine made a result. */
#pragma once

#include "cell/cell.h"
#include "tensor/parallel.h"

/* The content of meta.json: plugins, data, engine, arithmetic, abi, host, cpu, gemm, blas,
 * blas_core, libm, precision, compiler, build, threads, started_utc. data: see cell_data. */
peat_status cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
                      struct value **meta, struct error *err);
/* The files that plugins read, then those that weights start from, with their SHA-256: [{path,
 * sha256}]; for a cell's weights also the run directory, as "run". */
peat_status cell_data(const struct cell_config *c, struct arena *a, struct value **list,
                      struct error *err);
/* The keys of meta.json, ended by NULL, that decide bits beside the configuration, whose hash
 * covers precision, plugins and data. A checkpoint in which one differs is not continued. Threads
 * and the level of our own loops do not change bits. */
extern const char *const deciding_keys[];
/* "0.1.0" */
const char *engine_version(void);
