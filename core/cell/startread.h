/* SPDX-License-Identifier: MIT */
/* startread.h: reading model.start and model.embedding, and their part of a cell's identity. */
#pragma once

#include "cell/start.h"
#include "plugin_use.h"

/* Reads them from the section `model`, without looking into the files. */
bool starts_read(const struct cell_reader *r, struct cell_config *c, const struct value *model);
/* Finds the files that the cell with this seed reads, and hashes them. */
peat_status starts_find(struct cell_config *c, struct arena *a, struct error *err);
/* True when the files depend on the seed. */
bool starts_vary(const struct cell_config *c);
/* Puts "start" and "embedding" into a section `model`: in the form of a cell's config.json or, for
 * its identity, with hashes instead of paths. A cell without starts gets neither. */
void starts_put(const struct cell_config *c, struct json model, bool identity);
/* The hashes of the files that vary with the seed. */
struct value *starts_hashes(const struct cell_config *c, struct arena *a);
