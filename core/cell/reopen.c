/* SPDX-License-Identifier: MIT */
/* reopen.c: makes a configuration that can run from config.json. */
#include "cell/reopen.h"

#include "cell/cellmeta.h"

/* A file whose content is not the one that meta.json recorded; NULL: all are unchanged. */
static const char *changed_file(const struct value *then, const struct value *now)
{
    for (int i = 0; then && i < then->n && i < now->n; i++) {
        const char *was = json_get_text(then->item[i], "sha256");
        const char *is = json_get_text(now->item[i], "sha256");
        if (was && is && strcmp(was, is) != 0)
            return json_get_text(now->item[i], "path");
    }
    return NULL;
}

static peat_status check_hash(const struct cell_config *c, const struct recorded_cell *cell,
                              struct arena *a, struct error *err)
{
    const char *hash = json_get_text(cell->config, "hash");
    struct value *data;
    if (hash && !strcmp(c->hash, hash))
        return PEAT_OK;
    if (!cell_data(c, a, &data, err))
        return err->status;
    const char *file = changed_file(value_get(cell->meta, "data"), data);
    if (file)
        return error_set(err, PEAT_INVALID,
                         "'%s' is not what cell '%s' was trained on: its content has changed", file,
                         cell->label);
    return error_set(err, PEAT_INVALID,
                     "the data or a plugin file has changed since cell '%s' was trained",
                     cell->label);
}

peat_status cell_reopen(struct cell_config *c, const struct recorded_cell *cell, const char *what,
                        struct registry *r, struct arena *a, struct error *err)
{
    if (!cell->config)
        return error_set(err, PEAT_CORRUPT, "'%s/config.json' is not a cell's configuration",
                         cell->dir);
    peat_status status = registry_init(r, a, cell->trail, err);
    if (status == PEAT_OK)
        status = cell_config_restore(c, cell->config, r, a, err);
    if (status != PEAT_OK) {
        error_prefix(err, "%s needs the cell's plugins and data", what);
        return status;
    }
    return check_hash(c, cell, a, err);
}
