/* SPDX-License-Identifier: MIT */
/* extends.c: the file of common defaults that an experiment extends. */
#include "cell/setting.h"
#include "experiment/yamldoc.h"
#include "reading.h"

static const char *const allowed[] = {"version", "defaults", "seeds", "match",
                                      "run",     "report",   NULL};

/* A run directory has a copy, because the name is relative to where the experiment was. */
static const char *path_of(const struct reading *r, const struct value *named)
{
    const struct file_path dir = path_folder(r->e->path);
    if (strcmp(path_name(r->e->path), EXPERIMENT_FILE) == 0 && dir_has(dir.text, "plan.json") &&
        dir_has(dir.text, EXTENDS_FILE))
        return arena_strdup(r->a, path_in(dir.text, EXTENDS_FILE).text);
    char *beside = path_beside(r->e->path, named->text);
    const char *path = arena_strdup(r->a, beside);
    free(beside);
    return path;
}

static bool read_base(struct reading *r, const struct value *named, struct value **base)
{
    struct error why = {0};
    r->e->extends = path_of(r, named);
    if (yaml_load(r->a, r->e->extends, base, &why) != PEAT_OK)
        return why.status == PEAT_INVALID
                   ? error_fail(r->err, why.status, "%s", why.text)
                   : mistake(r->err, named->at, "'extends' names '%s': %s", named->text, why.text);
    return known_keys_only(*base, "a file that is extended", allowed, r->err);
}

/* `over` on `base`: maps are merged key by key. Lists, single values and the maps of plugins
 * replace. */
static struct value *extend(struct arena *a, struct value *base, struct value *over)
{
    struct value *all;
    if (base->kind != VALUE_MAP || over->kind != VALUE_MAP || value_get(over, "plugin"))
        return over;
    all = value_map_copy(a, base, base->at);
    all->at = over->at;
    for (int i = 0; i < over->n; i++) {
        struct value *old = value_get(base, over->key[i]);
        value_set(a, all, over->key[i], over->key_at[i],
                  old ? extend(a, old, over->item[i]) : over->item[i]);
    }
    return all;
}

/* Versions differ in what is left out. */
static bool same_version(struct reading *r, const struct value *base)
{
    const struct value *theirs = value_get(base, "version"), *own = value_get(r->root, "version");
    return !value_differs(theirs, own) ||
           mistake(r->err, theirs->at, "version %s is extended by a file of version %s",
                   value_label(r->a, NULL, theirs), value_label(r->a, NULL, own));
}

bool extends_read(struct reading *r)
{
    const struct value *named = value_get(r->root, "extends");
    struct value *base, *own = value_map(r->a, r->root->at);
    if (!named)
        return true;
    if (named->kind != VALUE_TEXT || !named->text[0])
        return mistake(r->err, named->at, "'extends' must be the name of a file");
    if (!read_base(r, named, &base) || !same_version(r, base))
        return false;
    for (int i = 0; i < r->root->n; i++)
        if (r->root->item[i] != named)
            value_set(r->a, own, r->root->key[i], r->root->key_at[i], r->root->item[i]);
    r->root = extend(r->a, base, own);
    return true;
}
