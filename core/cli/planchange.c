/* SPDX-License-Identifier: MIT */
/* planchange.c: names what differs between a planned cell and a finished one of its label. */
#include "cell/cellfiles.h"
#include "cell/cellmeta.h"
#include "cli/planparts.h"

/* The first setting that differs, "train.steps"; NULL: none. */
static const char *other_setting(const struct value *was, const struct value *is, struct arena *a)
{
    for (int i = 0; is && i < is->n; i++) {
        const struct value *one = value_get(was, is->key[i]);
        bool maps = one && one->kind == VALUE_MAP && is->item[i]->kind == VALUE_MAP;
        const char *inside = maps ? other_setting(one, is->item[i], a) : NULL;
        if (inside)
            return arena_printf(a, "%s.%s", is->key[i], inside);
        if (!maps && (!one || !value_equal(one, is->item[i])))
            return is->key[i];
    }
    return NULL;
}

/* Says that a plugin was built again, and with which options where the files record them. */
static const char *rebuilt(const struct value *now, const struct value *recorded, struct arena *a)
{
    const char *is = json_get_text(now, "built"), *was = NULL;
    const char *name =
        arena_printf(a, "%s '%s'", json_get_text(now, "kind"), json_get_text(now, "id"));
    for (int i = 0; i < recorded->n; i++)
        if (json_text_is(recorded->item[i], "id", json_get_text(now, "id")))
            was = json_get_text(recorded->item[i], "built");
    if (!is || !was)
        return arena_printf(a, "%s is another file; `peat plugins build` notes with which flags",
                            name);
    return strcmp(is, was) == 0
               ? arena_printf(a, "%s has another source or compiler: the flags are the same", name)
               : arena_printf(a, "%s was built by `%s`, and now by `%s`", name, was, is);
}

const char *plan_change(const char *dir, const struct plan_cell *c, struct arena *a)
{
    struct value *config = NULL, *meta = NULL;
    record_read(dir, &config_record, a, &config, NULL);
    record_read(dir, &meta_record, a, &meta, NULL);
    const struct value *recorded = value_get(meta, "plugins");
    const struct value *now = plugins_changed(c->plugins, recorded);
    if (now)
        return rebuilt(now, recorded, a);
    const char *setting = other_setting(config, c->config.resolved, a);
    return setting ? arena_printf(a, "%s is not what it was", setting)
                   : "a file of data has another content";
}
