/* SPDX-License-Identifier: MIT */
/* recordedhash.c: a cell's identity (cell.c) from what its files say, without plugins and data. */
#include <string.h>

#include "base/file.h"
#include "cell/cellfiles.h"

enum { EMPTY_MOST = 8 };

/* A cell's files on the way to its identity. */
struct recorded {
    const struct value *config, *meta;
    int n_plugin, n_data; /* of meta.json, so far */
    unsigned n_empty;     /* empty texts in the settings of plugins, so far */
    unsigned files;       /* by bit: such a text is a file that is not named, and no text */
    struct arena *a;
};

/* The content of a file that meta.json lists; NULL: it lists no such file. Data may have moved
 * since the cell was trained, when config.json was written anew: then the file has its name alone.
 */
static const char *content_of(const struct recorded *r, const char *path)
{
    const char *moved = NULL, *name = path && strchr(path, '/') ? path_name(path) : NULL;
    const struct value *file;
    for (int i = 0; (file = json_get_item(r->meta, "data", i)); i++) {
        const char *listed = json_get_text(file, "path");
        if (same_text(listed, path))
            return json_get_text(file, "sha256");
        if (name && listed && strcmp(path_name(listed), name) == 0)
            moved = json_get_text(file, "sha256");
    }
    return moved;
}

/* Its members; of damaged files, in which it is no map, none. */
static struct json copy_map(const struct value *map, struct arena *a)
{
    struct json copy = json_map(a);
    for (int i = 0; map && map->kind == VALUE_MAP && i < map->n; i++)
        json_put(copy, map->key[i], map->item[i]);
    return copy;
}

/* Whether an empty text counts as a file this time. */
static bool is_no_file(struct recorded *r, const struct value *v)
{
    if (v->kind != VALUE_TEXT || *v->text)
        return false;
    unsigned bit = r->n_empty++;
    return bit < EMPTY_MOST && (r->files >> bit & 1);
}

/* Where a setting names files, the list of their contents. */
static const struct value *content(struct recorded *r, const struct value *v)
{
    struct json list = json_list(r->a);
    bool many = v->kind == VALUE_LIST, any = false;
    for (int i = 0; i < (many ? v->n : 1); i++) {
        const struct value *one = many ? v->item[i] : v;
        const char *hex = one->kind == VALUE_TEXT ? content_of(r, one->text) : NULL;
        if (!many && is_no_file(r, one))
            hex = "";
        any = any || hex;
        if (hex)
            json_add_text(list, hex);
        else
            json_add(list, one);
    }
    return any ? list.v : v;
}

/* Plugins stand in meta.json in the order of their uses. */
static const struct value *plugin_use(struct recorded *r, const struct value *use)
{
    const struct value *plugin = json_get_item(r->meta, "plugins", r->n_plugin++);
    struct json all = copy_map(use, r->a);
    for (int i = 0; i < all.v->n; i++)
        json_put(all, all.v->key[i], content(r, all.v->item[i]));
    const char *name = json_get_text(use, "plugin");
    json_put_text(all, "plugin", json_get_text(plugin, "id"));
    if (name && strchr(name, '/'))
        json_put_text(all, "sha256", json_get_text(plugin, "sha256"));
    return all.v;
}

static const struct value *position(struct recorded *r)
{
    const struct value *given = value_get(r->config, "position"),
                       *combine = value_get(given, "combine"), *scheme;
    struct json all = json_map(r->a), list = json_put_list(all, "scheme");
    for (int i = 0; (scheme = json_get_item(given, "scheme", i)); i++)
        json_add(list, plugin_use(r, scheme));
    json_put(all, "combine", combine && combine->kind == VALUE_MAP ? plugin_use(r, combine) : NULL);
    return all.v;
}

/* One that varies with the seed is no part of the settings: its content goes to `varying`. */
static const struct value *start(struct recorded *r, const struct value *given, struct json varying)
{
    const char *cell = json_get_text(given, "cell");
    const char *hex = json_get_text(json_get_item(r->meta, "data", r->n_data++), "sha256");
    bool varies = cell && strstr(cell, "{seed}");
    struct json all = copy_map(given, r->a);
    json_put_text(all, "from", varies ? NULL : hex);
    if (varies)
        json_add_text(varying, hex);
    else
        json_put(all, "cell", NULL);
    return all.v;
}

/* What weights start from ends the list of data. */
static const struct value *model(struct recorded *r, struct json varying)
{
    const struct value *given = value_get(r->config, "model"), *one,
                       *embedding = value_get(given, "embedding");
    struct json all = copy_map(given, r->a), list = json_list(r->a);
    int n = json_get_count(given, "start") + (embedding != NULL);
    int behind = json_get_count(r->meta, "data") - n;
    r->n_data = behind > 0 ? behind : 0;
    for (int i = 0; (one = json_get_item(given, "start", i)); i++)
        json_add(list, start(r, one, varying));
    if (list.v->n)
        json_put(all, "start", list.v);
    if (embedding)
        json_put(all, "embedding", start(r, embedding, varying));
    return all.v;
}

static bool has_hash(struct recorded *r)
{
    char hex[HASH_HEX];
    struct json all = json_map(r->a), varying = json_list(r->a);
    const struct value *train = value_get(r->config, "train");
    json_put(all, "task", plugin_use(r, value_get(r->config, "task")));
    json_put(all, "position", position(r));
    json_put(all, "model", model(r, varying));
    json_put(all, "train", train);
    if (value_get(r->config, "arithmetic"))
        json_put(all, "arithmetic", value_get(r->config, "arithmetic"));
    if (json_get_int(train, "patience", 0))
        json_put(all, "eval", value_get(r->config, "eval"));
    json_put_int(all, "seed", json_get_int(r->config, "seed", -1));
    if (varying.v->n)
        json_put(all, "start", varying.v);
    json_hash(all.v, hex);
    return json_text_is(r->config, "hash", hex);
}

bool cell_files_have_hash(const struct value *config, const struct value *meta, struct arena *a)
{
    struct recorded r = {.n_empty = 0};
    struct arena_mark mark = arena_mark(a);
    unsigned files = 0;
    bool same;
    do {
        r = (struct recorded){.config = config, .meta = meta, .files = files, .a = a};
        same = has_hash(&r);
        arena_rewind(a, mark);
    } while (!same && r.n_empty <= EMPTY_MOST && ++files < 1U << r.n_empty);
    return same;
}
