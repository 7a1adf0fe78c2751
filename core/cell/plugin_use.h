/* SPDX-License-Identifier: MIT */
/* plugin_use.h: one plugin as a cell names it, with its parameters and where it acts. */
#pragma once

#include "cell/cell.h"

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
/* `v`: a name, or a map with `plugin`. */
bool plugin_use_read(const struct cell_reader *r, struct plugin_use *use, peat_kind kind,
                     const struct value *v);
/* The same for a scheme, with where, at and share checked against the model's sizes. */
bool scheme_use_read(const struct cell_reader *r, struct plugin_use *use, const struct value *v,
                     const struct model_config *model);
/* `given`, with files by the hash of their content and the plugin by its id. */
bool plugin_use_identity(const struct cell_reader *r, const struct plugin_use *use,
                         struct value **identity);
/* True when the scheme has a stream for the combine. */
bool plugin_use_has_stream(const struct plugin_use *use);
