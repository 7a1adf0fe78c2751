/* SPDX-License-Identifier: MIT */
/*
 * cellfiles.h: the files of a cell, and the seal of its result over them.
 *
 * result.json is written last. It holds the hash of what meta.json says ("meta_hash"), and bytes
 * and SHA-256 of metrics.jsonl and of the final weights ("files"), so that one of them that was
 * cut, edited or taken from another cell is noticed. Results of format 1 have neither.
 */
#pragma once

#include "base/base.h"

extern const struct record config_record, meta_record, result_record;

/* Puts "meta_hash" and "files" into the result of the cell in `dir`, which ended at `step`. */
peat_status cell_files_seal(const char *dir, int64_t step, const struct value *meta,
                            struct json result, struct error *err);

/* Which of a cell's files are checked. */
enum cell_look {
    LOOK_READ, /* what tables and figures read; of the weights their size, if they are there */
    LOOK_ALL,  /* the weights too, which have to be there                                    */
};
/* NULL: the files are those that the result was sealed with. Else which one is not, and how:
 * "metrics.jsonl is not the one that result.json was sealed with". meta: what meta.json says; NULL:
 * it is missing. */
const char *cell_files_fault(const char *dir, const struct value *result, const struct value *meta,
                             enum cell_look look, struct arena *a);

/*
 * recordedhash.c: settings by what meta.json says of plugins and files, which need not be here. The
 * files are matched in the order in which meta.json lists them: data may have moved.
 */
/* Whether the settings in config.json have its hash. Only a plugin knows which of its settings name
 * files: an empty text that may be one counts as one or as a text, whichever fits. */
bool cell_files_have_hash(const struct value *config, const struct value *meta, struct arena *a);
/* config.json with the content of each file in the place of its path. */
const struct value *cell_files_without_paths(const struct value *config, const struct value *meta,
                                             struct arena *a);
/* {"pid", "host", "started_utc"}: who writes it, and when. */
struct json process_named(struct arena *a);
