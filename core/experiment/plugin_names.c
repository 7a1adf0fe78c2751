/* SPDX-License-Identifier: MIT */
/* plugin_names.c: the plugins that an experiment names: known ones, and names of those given by
 * path. */
#include "cell/setting.h"
#include "plugin/registry.h"
#include "process/apart.h"
#include "reading.h"

/* ---- where plugins are named ---- */

/* True for keys whose texts, or lists of texts, name plugins: "scheme", "position.scheme",
 * "task.plugin". */
static bool names_plugins(const char *key)
{
    static const char *const keys[] = {"plugin", "scheme", "combine", "task", "value", NULL};
    return names_find(keys, key_name(key)) >= 0;
}

static void collect(struct arena *a, struct value *list, const char *key, struct value *v)
{
    if (v->kind == VALUE_TEXT && names_plugins(key))
        value_append(a, list, v);
    for (int i = 0; i < v->n; i++)
        collect(a, list, v->kind == VALUE_MAP ? v->key[i] : key, v->item[i]);
}

struct value *plugin_mentions(const struct reading *r, struct arena *a)
{
    struct value *list = value_list(a, NOWHERE);
    collect(a, list, "", r->root);
    for (int i = 0; i < r->n_word; i++)
        collect(a, list, r->word[i].key, r->word[i].value);
    return list;
}

/* The texts that are paths, each once; a missing file is refused where it is used. */
static struct value *list_paths(const struct value *all, struct arena *a)
{
    struct value *paths = value_list(a, NOWHERE);
    for (int i = 0; i < all->n; i++) {
        struct value *one = all->item[i];
        char *path = path_beside(one->at.file ? one->at.file : "", one->text);
        bool kept = !registry_is_path(one->text) || !file_exists(path);
        for (int k = 0; !kept && k < paths->n; k++)
            kept = strcmp(paths->item[k]->text, one->text) == 0 &&
                   same_text(paths->item[k]->at.file, one->at.file);
        if (!kept)
            value_append(a, paths, one);
        free(path);
    }
    return paths;
}

/* ---- asking plugins for their names ---- */

/* Runs in a child process: an entry for each plugin, null for one that cannot be loaded. */
static peat_status plugins_ask(void *ctx, struct trail *trail, struct strbuf *out,
                               struct error *err)
{
    const struct value *paths = ctx;
    struct arena arena;
    struct registry registry;
    arena_init(&arena, "names", 1 << 14);
    peat_status status = registry_init(&registry, &arena, trail, err);
    struct json list = json_list(&arena);
    for (int i = 0; status == PEAT_OK && i < paths->n; i++) {
        const struct plugin *plugin;
        registry.at = paths->item[i]->at;
        char *path = path_beside(registry.at.file ? registry.at.file : "", paths->item[i]->text);
        struct json one = json_add_map(list);
        if (registry_find_any(&registry, path, &plugin, NULL) == PEAT_OK) {
            json_put_text(one, "name", plugin->desc->id);
            json_put_text(one, "path", plugin->path);
        }
        free(path);
    }
    json_print(list.v, JSON_DENSE, out);
    arena_release(&arena);
    return status;
}

/* Whether another plugin of the experiment, of another file, has this name too. */
static bool is_shared(const struct value *all, const struct value *answers, int i)
{
    const char *name = json_get_text(answers->item[i], "name"),
               *path = json_get_text(answers->item[i], "path");
    for (int k = 0; k < answers->n; k++)
        if (same_text(json_get_text(answers->item[k], "name"), name) &&
            !same_text(json_get_text(answers->item[k], "path"), path))
            return true;
    return value_holds_text(all, name);
}

static void keep_names(struct plugin_names *names, const struct value *all,
                       const struct value *paths, const struct value *answers, struct arena *a)
{
    names->item = ARENA_ARRAY(a, paths->n + 1, struct plugin_name);
    for (int i = 0; i < paths->n && i < answers->n; i++) {
        const struct value *path = paths->item[i];
        const char *name = json_get_text(answers->item[i], "name");
        if (name && !is_shared(all, answers, i))
            names->item[names->n++] =
                (struct plugin_name){path->at.file, path->text, arena_strdup(a, name)};
    }
}

/* The time limit is that of plugin functions in a plan. A mistake in it is reported where it is
 * read. */
static double seconds_allowed(struct reading *r)
{
    double seconds = APART_SECONDS;
    struct reading quiet = *r;
    struct error ignored = {0};
    quiet.err = &ignored;
    seconds_read(&quiet, value_get(r->root, "run"), "plan_timeout", "run", &seconds);
    return seconds;
}

bool plugin_names_read(struct reading *r)
{
    const struct value *all = plugin_mentions(r, r->a);
    struct value *paths = list_paths(all, r->a);
    struct strbuf text = STRBUF_NEW;
    if (paths->n == 0)
        return true;
    bool ok = apart_run(plugins_ask, paths, seconds_allowed(r), APART_ASIDE, &text, NULL, r->err) ==
              PEAT_OK;
    const struct value *answers = ok ? json_parse(r->a, text.text, text.n, "names", r->err) : NULL;
    if (answers)
        keep_names(&r->e->names, all, paths, answers, r->a);
    strbuf_release(&text);
    return answers;
}

const char *plugin_name_at(const struct plugin_names *names, const struct value *v)
{
    for (int i = 0; names && i < names->n; i++)
        if (strcmp(names->item[i].text, v->text) == 0 && same_text(names->item[i].file, v->at.file))
            return names->item[i].name;
    return NULL;
}

/* ---- known plugins ---- */

struct known {
    struct reading *r;
    struct registry registry;
};

/* The command line sets the key, so the file's value is not used. */
static bool is_replaced(const struct reading *r, const char *key)
{
    return word_find(r, key) || value_get(value_get_path(r->root, "matrix.only"), key);
}

static bool check(struct known *k, peat_kind kind, const struct value *v)
{
    /* These contain labels, which are checked later. */
    static const char *const labels[] = {"exclude", "include", "only", "when", NULL};
    bool ok = true;
    if (kind && v->kind == VALUE_TEXT)
        return registry_expect(&k->registry, kind, v->text, v->at, k->r->err) == PEAT_OK;
    for (int i = 0; ok && v->kind == VALUE_LIST && i < v->n; i++)
        ok = check(k, kind, v->item[i]);
    for (int i = 0; ok && v->kind == VALUE_MAP && i < v->n; i++) {
        bool names = !strcmp(v->key[i], "plugin") || !strcmp(v->key[i], "value");
        if (kind ? names : names_find(labels, v->key[i]) < 0 && !is_replaced(k->r, v->key[i]))
            ok = check(k, kind ? kind : setting_kind(v->key[i]), v->item[i]);
    }
    return ok;
}

bool known_plugins(struct reading *r)
{
    static const char *const sections[] = {"defaults", "matrix", "overrides"};
    struct known k = {.r = r};
    bool ok = registry_init(&k.registry, r->a, NULL, r->err) == PEAT_OK;
    for (int i = 0; ok && i < 3; i++) {
        const struct value *v = value_get(r->root, sections[i]);
        ok = !v || check(&k, 0, v);
    }
    return ok;
}
