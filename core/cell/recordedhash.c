/* SPDX-License-Identifier: MIT */
/* recordedhash.c: rebuilds a cell's settings from its own files, which record its plugins and data,
 * so that these need not be here. The settings are as in the cell's identity (cell.c), or as
 * written with the content of each file instead of its path. */

#include "cell/cellfiles.h"
#include "identity.h"

enum { EMPTY_MOST = 8 };

/* State of a walk over a cell's settings, in the order in which meta.json lists plugins and
 * data. */
struct recorded {
    const struct value *config, *meta;
    bool identity;        /* true: settings as cell.c hashes them; false: as written, without
                           * paths */
    int n_plugin, n_data; /* files of meta.json passed so far */
    unsigned n_empty;     /* empty texts in the settings of plugins passed so far */
    unsigned files;       /* bit i: the i-th such text counts as a file that is not given, not as
                           * a text */
    struct arena *a;
};

/* The content of the file or of the run's cell at this path; NULL: meta.json does not list it. */
static const char *listed_content(const struct recorded *r, const char *path)
{
    static const char *const list[] = {"data", "plugins", NULL};
    const struct value *v;
    for (int k = 0; list[k]; k++)
        for (int i = 0; (v = json_get_item(r->meta, list[k], i)); i++)
            if (json_text_is(v, "path", path) || json_text_is(v, "run", path))
                return json_get_text(v, "sha256");
    return NULL;
}

static bool names_folder(const char *path)
{
    return path && strchr(path, '/');
}

/* The content of the file that a plugin's setting names; NULL: the setting names no file. If data
 * moved after training and config.json was written again, the path is not listed; then the next
 * file that meta.json lists has the same name in another folder. */
static const char *content_of(struct recorded *r, const char *path)
{
    const struct value *next = json_get_item(r->meta, "data", r->n_data);
    const char *listed = json_get_text(next, "path");
    bool moved = names_folder(path) && names_folder(listed) &&
                 strcmp(path_name(listed), path_name(path)) == 0;
    if (!moved && !same_text(listed, path))
        return listed_content(r, path);
    r->n_data++;
    return json_get_text(next, "sha256");
}

/* Whether v is an empty text that r->files counts as a file that is not given. */
static bool is_no_file(struct recorded *r, const struct value *v)
{
    if (v->kind != VALUE_TEXT || *v->text)
        return false;
    unsigned bit = r->n_empty++;
    return bit < EMPTY_MOST && (r->files >> bit & 1);
}

/* The contents of the files that a setting names; in an identity always as a list. */
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
        json_add(list, hex ? value_text(r->a, NOWHERE, hex) : one);
    }
    return !any ? v : many || r->identity ? list.v : list.v->item[0];
}

/* meta.json lists plugins in the order of their uses. */
static const struct value *plugin_use(struct recorded *r, const struct value *use)
{
    const struct value *plugin = json_get_item(r->meta, "plugins", r->n_plugin++);
    struct json all = {r->a, value_map_copy(r->a, use, NOWHERE)};
    for (int i = 0; i < all.v->n; i++)
        json_put(all, all.v->key[i], content(r, all.v->item[i]));
    const char *name = json_get_text(use, "plugin"), *sha256 = json_get_text(plugin, "sha256");
    bool by_path = name && strchr(name, '/');
    if (r->identity)
        json_put_text(all, "plugin", json_get_text(plugin, "id"));
    if (by_path)
        json_put_text(all, r->identity ? "sha256" : "plugin", sha256);
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

/* In an identity, the content of a file that varies with the seed is added to `varying`. */
static const struct value *recorded_start(struct recorded *r, const struct value *given,
                                          struct json varying)
{
    const char *cell = json_get_text(given, "cell");
    const char *hex = json_get_text(json_get_item(r->meta, "data", r->n_data++), "sha256");
    bool varies = r->identity && cell && strstr(cell, "{seed}");
    struct json all = {r->a, value_map_copy(r->a, given, NOWHERE)};
    json_put_text(all, "from", varies ? NULL : hex);
    if (!r->identity)
        return all.v;
    if (varies)
        json_add_text(varying, hex);
    else
        json_put(all, "cell", NULL);
    return all.v;
}

/* Files that weights start from are at the end of the list of data. */
static const struct value *model(struct recorded *r, struct json varying)
{
    const struct value *given = value_get(r->config, "model"), *one,
                       *embedding = value_get(given, "embedding");
    struct json all = {r->a, value_map_copy(r->a, given, NOWHERE)}, list = json_list(r->a);
    int n = json_get_count(given, "start") + (embedding != NULL);
    int behind = json_get_count(r->meta, "data") - n;
    r->n_data = behind > 0 ? behind : 0;
    for (int i = 0; (one = json_get_item(given, "start", i)); i++)
        json_add(list, recorded_start(r, one, varying));
    if (list.v->n)
        json_put(all, "start", list.v);
    if (embedding)
        json_put(all, "embedding", recorded_start(r, embedding, varying));
    return all.v;
}

static void put_settings(struct recorded *r, struct json all, struct json varying)
{
    json_put(all, "task", plugin_use(r, value_get(r->config, "task")));
    json_put(all, "position", position(r));
    json_put(all, "model", model(r, varying));
}

static bool has_hash(struct recorded *r)
{
    char hex[HASH_HEX];
    struct json all = json_map(r->a), varying = json_list(r->a);
    put_settings(r, all, varying);
    json_put(all, "train", value_get(r->config, "train"));
    if (value_get(r->config, "arithmetic"))
        json_put(all, "arithmetic", value_get(r->config, "arithmetic"));
    put_eval_identity(all, r->config);
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
        r = (struct recorded){
            .config = config, .meta = meta, .identity = true, .files = files, .a = a};
        same = has_hash(&r);
        arena_rewind(a, mark);
    } while (!same && r.n_empty <= EMPTY_MOST && ++files < 1U << r.n_empty);
    return same;
}

static const char *content_at(const void *ctx, const struct value *v)
{
    return listed_content(ctx, v->text);
}

const struct value *cell_files_without_paths(const struct value *config, const struct value *meta,
                                             struct arena *a)
{
    struct recorded r = {.config = config, .meta = meta, .a = a};
    struct json all = {a, value_map_copy(a, config, NOWHERE)};
    if (value_get(meta, "plugins"))
        put_settings(&r, all, json_list(a));
    return value_with_texts(a, all.v, content_at, &r);
}
