/* SPDX-License-Identifier: MIT */
/* cellmeta.h: provenance: which plugins, data, engine and machine made a result. */
#ifndef CELL_CELLMETA_H
#define CELL_CELLMETA_H

#include "cell/cell.h"
#include "tensor/parallel.h"

/* plugins, data, engine, abi, host, cpu, gemm, blas, blas_core, libm, precision, compiler,
 * build, threads, started_utc. data: of the bytes that the task is given. */
peat_status cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
                      struct value **meta, struct error *err);
/* The files that PATH parameters of a plugin name, with their SHA-256: [{path, sha256}]. */
peat_status plugin_data(const struct plugin_use *use, struct data_files *f, struct arena *a,
                        struct value **list, struct error *err);
/* The keys, ended by NULL, of what decides bits beside the configuration, whose hash covers
 * precision, plugins and data. A checkpoint with others is not continued; threads and the level of
 * our own loops decide nothing. */
extern const char *const deciding_keys[];
/* "0.1.0" */
const char *engine_version(void);

#endif
