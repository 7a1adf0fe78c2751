/* SPDX-License-Identifier: MIT */
/* loader.c: opens one plugin, and checks its contract before any of it is used. */

#include "plugin/registry.h"

static peat_status read_descriptor(struct arena *a, const char *path, const struct object *o,
                                   const peat_plugin **desc, struct error *err)
{
    void *symbol = object_symbol(o, PEAT_ENTRY_NAME);
    if (!symbol)
        return error_set(err, PEAT_INVALID, "'%s' is not a PEAT plugin: it has no %s", path,
                         PEAT_ENTRY_NAME);
    /* POSIX: a symbol's address may be copied into a pointer to a function. */
    peat_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry));
    peat_status status = plugin_contract(a, entry(), desc, err);
    if (status != PEAT_OK)
        error_prefix(err, "'%s'", path);
    return status;
}

peat_status plugin_load(struct arena *a, const char *path, enum object_hash hash,
                        const struct plugin **plugin, struct error *err)
{
    struct plugin *loaded = ARENA_NEW(a, struct plugin);
    struct object o = {0};
    peat_status status = object_open(&o, "plugin", path, hash, a, err);
    if (status == PEAT_OK)
        status = read_descriptor(a, path, &o, &loaded->desc, err);
    if (status != PEAT_OK)
        return status;
    loaded->name = object_stem(a, path);
    loaded->path = o.path;
    memcpy(loaded->sha256, o.sha256, sizeof(o.sha256));
    *plugin = loaded;
    return PEAT_OK;
}
