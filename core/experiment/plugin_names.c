/* SPDX-License-Identifier: MIT */
/* plugin_names.c: names of plugins that are given by path. */
#include "experiment/plugin_names.h"

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

static void collect(struct plugin_mentions *m, const char *key, const struct value *v)
{
    if (v->kind == VALUE_TEXT && names_plugins(key))
        *ARENA_APPEND(m->a, m->item, m->n, m->room) = (struct plugin_mention){v->at, v->text};
    for (int i = 0; i < v->n; i++)
        collect(m, v->kind == VALUE_MAP ? v->key[i] : key, v->item[i]);
}

void plugin_mentions_find(struct plugin_mentions *m, const struct reading *r)
{
    collect(m, "", r->root);
    for (int i = 0; i < r->n_word; i++)
        collect(m, r->word[i].key, r->word[i].value);
}

/* Lists the texts that are paths, each once; a missing file is refused where it is used. */
static void keep_paths(struct plugin_mentions *m, const struct plugin_mentions *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct plugin_mention *one = &all->item[i];
        char *path = path_beside(one->at.file ? one->at.file : "", one->text);
        bool kept = !registry_is_path(one->text) || !file_exists(path);
        for (int k = 0; !kept && k < m->n; k++)
            kept = strcmp(m->item[k].text, one->text) == 0 &&
                   same_text(m->item[k].at.file, one->at.file);
        if (!kept)
            *ARENA_APPEND(m->a, m->item, m->n, m->room) = *one;
        free(path);
    }
}

/* ---- asking plugins for their names ---- */

/* Runs in a child process: an entry for each plugin, null for one that cannot be loaded. */
static peat_status ask(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct plugin_mentions *m = ctx;
    struct arena arena;
    struct registry registry;
    arena_init(&arena, "names", 1 << 14);
    peat_status status = registry_init(&registry, &arena, trail, err);
    struct json list = json_list(&arena);
    for (int i = 0; status == PEAT_OK && i < m->n; i++) {
        const struct plugin *plugin;
        registry.at = m->item[i].at;
        char *path = path_beside(registry.at.file ? registry.at.file : "", m->item[i].text);
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
static bool is_shared(const struct plugin_mentions *all, const struct value *answers, int i)
{
    const char *name = json_get_text(answers->item[i], "name"),
               *path = json_get_text(answers->item[i], "path");
    for (int k = 0; k < answers->n; k++)
        if (same_text(json_get_text(answers->item[k], "name"), name) &&
            !same_text(json_get_text(answers->item[k], "path"), path))
            return true;
    for (int k = 0; k < all->n; k++)
        if (strcmp(all->item[k].text, name) == 0)
            return true;
    return false;
}

static void keep_names(struct plugin_names *names, const struct plugin_mentions *all,
                       const struct plugin_mentions *m, const struct value *answers)
{
    names->item = ARENA_ARRAY(m->a, m->n + 1, struct plugin_name);
    for (int i = 0; i < m->n && i < answers->n; i++) {
        const char *name = json_get_text(answers->item[i], "name");
        if (name && !is_shared(all, answers, i))
            names->item[names->n++] =
                (struct plugin_name){m->item[i].at.file, m->item[i].text, arena_strdup(m->a, name)};
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
    struct plugin_mentions all = {.a = r->a}, m = {.a = r->a};
    struct strbuf text = STRBUF_NEW;
    plugin_mentions_find(&all, r);
    keep_paths(&m, &all);
    if (m.n == 0)
        return true;
    bool ok = apart_run(ask, &m, seconds_allowed(r), APART_ASIDE, &text, NULL, r->err) == PEAT_OK;
    const struct value *answers = ok ? json_parse(r->a, text.text, text.n, "names", r->err) : NULL;
    if (answers)
        keep_names(&r->e->names, &all, &m, answers);
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
