/* SPDX-License-Identifier: MIT */
/* cellreader.h: the parts of a cell as they are read: plugins, and weights that start from files.
 */
#pragma once

#include "cell/start.h"

/* A reader of settings (base/value.h) for all parts of a cell. */
struct cell_reader {
    struct registry *registry;
    struct data_files *files;
    struct arena *a;
    struct error *err;
};

/* Settings that are valid separately but contradict each other are not a mistake of the file: their
 * point is refused. ok: whether a check of such settings succeeded. */
bool point_refused(const struct cell_reader *r, bool ok);

/* plugin_use.c: one plugin as a cell names it, with its parameters and where it acts. */
/* `v`: a name, or a map with `plugin`. */
bool plugin_use_read(const struct cell_reader *r, struct plugin_use *use, peat_kind kind,
                     const struct value *v);
/* Reads a scheme; where, at and share are checked against the model's sizes. */
bool scheme_use_read(const struct cell_reader *r, struct plugin_use *use, const struct value *v,
                     const struct model_config *model);
/* `given`, with files by the hash of their content and the plugin by its id. */
bool plugin_use_identity(const struct cell_reader *r, const struct plugin_use *use,
                         struct value **identity);
/* True when the scheme has a stream for the combine. */
bool plugin_use_has_stream(const struct plugin_use *use);

/* startread.c: model.start and model.embedding, and their part of a cell's identity. */
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
