/* SPDX-License-Identifier: MIT */
/*
 * cellfiles.h: the files of a cell, the seal of its result over them, and its values.
 *
 * result.json is written last. It has the hash of meta.json's content ("meta_hash"), and bytes and
 * SHA-256 of metrics.jsonl and of the final weights ("files"), so that a file that was cut, edited
 * or copied from another cell is noticed. Results of format 1 have neither. thinned.json seals a
 * thinned curve (cell/thin.h) instead: its own bytes and SHA-256, and the SHA-256 of the whole
 * curve that it is of.
 */
#pragma once

#include "base/base.h"

extern const struct record config_record, meta_record, result_record, thinned_record;

/* Puts "files" and "meta_hash" into the result of the cell in `dir`, which ended at `step`. False:
 * a file cannot be read. */
bool cell_files_seal(const char *dir, int64_t step, const struct value *meta, struct json result,
                     struct error *err);

/* How many of a cell's files are checked. */
enum cell_look {
    LOOK_READ, /* files that tables and figures read; for weights only their size, if they are
                * there */
    LOOK_ALL,  /* the weights too, which must be there                                       */
};
/* Names a file that is not the one the result was sealed with: "metrics.jsonl is not the one that
 * result.json was sealed with"; NULL: all are. meta: content of meta.json; NULL: it is missing. */
const char *cell_files_fault(const char *dir, const struct value *result, const struct value *meta,
                             enum cell_look look, struct arena *a);

/* The seal of the whole curve in a result; NULL: it has none. */
const struct value *cell_curve_seal(const struct value *result);
/* The content of thinned.json where the curve beside it is thinned; NULL: result.json seals it. */
const struct value *cell_thinned(const char *dir, const struct value *result, struct arena *a);
/* The content of thinned.json for this curve of the result. */
struct value *cell_thinned_seal(const struct value *result, const struct strbuf *thin,
                                struct arena *a);

/* The measure of a result by metric (NULL: any), split and length (below 0: the shortest that there
 * is); NULL: none. */
const struct value *result_measure(const struct value *result, const char *metric,
                                   const char *split, int64_t length);
/* The final weights that a result is sealed with, below the cell's directory; NULL: it is sealed
 * with none. */
const char *result_weights(const struct value *result, const char **sha256);
/* True when the configuration asks for an evaluation length that the result does not have, or for
 * another number of targets. */
bool cell_lacks_evaluation(const struct value *config, const struct value *result);

/*
 * recordedhash.c: checks settings by the plugins and files that meta.json lists, without reading
 * them. Files are matched in the order in which meta.json lists them, because data may have moved.
 */
/* True where the settings in config.json have its hash. Only a plugin knows which of its settings
 * name files, so an empty text that may be a file name is tried both as a file and as a text. */
bool cell_files_have_hash(const struct value *config, const struct value *meta, struct arena *a);
/* config.json with the content of each file instead of its path. */
const struct value *cell_files_without_paths(const struct value *config, const struct value *meta,
                                             struct arena *a);
/* {"pid", "host", "started_utc"} of this process: who writes a file, and when. */
struct json process_named(struct arena *a);
/* True for the name of this host. */
bool host_is_this(const char *host);
/* The process that wrote <dir>/<name> so; false: not known. */
bool process_read(const char *dir, const char *name, struct arena *a, int64_t *pid,
                  const char **host);
