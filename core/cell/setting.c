/* SPDX-License-Identifier: MIT */
/* setting.c: which dotted keys there are, and setting one in a tree. */
#include "cell/setting.h"

#include <string.h>

#include "cell/cell.h"

#define KEYS_MAX 128

const char *const setting_sections[] = {"task", "model", "position", "train", "eval", NULL};

static const char *const position_keys[] = {"scheme", "combine", NULL};

static int count(const char *const *name)
{
    int n = 0;
    while (name[n])
        n++;
    return n;
}

static bool is_one_of(const char *word, const char *const *name)
{
    for (; *name; name++)
        if (strcmp(word, *name) == 0)
            return true;
    return false;
}

bool setting_is_section(const char *key)
{
    return is_one_of(key, setting_sections);
}

bool setting_is_below(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

/* ---- messages ---- */

/* The key whose last part is the whole word: "steps" means "train.steps". */
static const char *key_ending_in(const char *word, int n, const char *const *known)
{
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(known[i], '.');
        if (dot && strcmp(dot + 1, word) == 0)
            return known[i];
    }
    return NULL;
}

peat_status unknown_key(struct error *err, struct place at, const char *key, const char *what,
                        int n, const char *const *known)
{
    const char *near = nearest_name(key, known, n);
    if (!near)
        near = key_ending_in(key, n, known);
    if (near)
        return place_error(err, at, "unknown key '%s' in %s; did you mean '%s'?", key, what, near);
    struct strbuf list;
    strbuf_init(&list);
    for (int i = 0; i < n && i < 24; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", known[i]);
    peat_status status =
        place_error(err, at, "unknown key '%s' in %s; allowed: %s", key, what, list.text);
    strbuf_release(&list);
    return status;
}

peat_status known_keys_only(const struct value *map, const char *what, const char *const *known,
                            struct error *err)
{
    if (map->kind != VALUE_MAP)
        return place_error(err, map->at, "%s must be a map of keys and values", what);
    for (int i = 0; i < map->n; i++)
        if (!is_one_of(map->key[i], known))
            return unknown_key(err, map->key_at[i], map->key[i], what, count(known), known);
    return PEAT_OK;
}

/* ---- the keys there are ---- */

static int add_rows(const char **name, int n, const peat_param *row)
{
    for (; row->key; row++)
        name[n++] = row->key;
    return n;
}

/* The keys of a section; 0 when only a plugin knows them. */
static int section_keys(const char *section, const char *name[KEYS_MAX])
{
    int n = 0;
    if (strcmp(section, "model") == 0) {
        n = add_rows(name, 0, model_rows);
        name[n++] = "attention";
    } else if (strcmp(section, "attention") == 0) {
        n = add_rows(name, 0, attention_rows);
    } else if (strcmp(section, "train") == 0) {
        n = add_rows(name, 0, train_rows);
    } else if (strcmp(section, "eval") == 0) {
        n = add_rows(name, 0, eval_rows);
    } else if (strcmp(section, "position") == 0) {
        for (; position_keys[n]; n++)
            name[n] = position_keys[n];
    }
    name[n] = NULL;
    return n;
}

static bool is_row_key(const char *section, const char *key)
{
    const char *name[KEYS_MAX];
    section_keys(section, name);
    return is_one_of(key, name);
}

static int all_keys(const char *name[KEYS_MAX], struct arena *a)
{
    static const char *const section[] = {"model", "attention", "position", "train", "eval"};
    int n = 0;
    name[n++] = "task";
    for (size_t s = 0; s < sizeof(section) / sizeof(*section); s++) {
        const char *key[KEYS_MAX];
        int keys = section_keys(section[s], key);
        const char *prefix = strcmp(section[s], "attention") == 0 ? "model.attention" : section[s];
        for (int i = 0; i < keys && n < KEYS_MAX; i++)
            name[n++] = arena_printf(a, "%s.%s", prefix, key[i]);
    }
    return n;
}

static bool is_known(const char *key)
{
    const char *dot = strchr(key, '.');
    if (!dot)
        return setting_is_section(key);
    if (!dot[1] || key[strlen(key) - 1] == '.' || strstr(key, ".."))
        return false;
    if (setting_is_below(key, "task") || setting_is_below(key, "position.scheme") ||
        setting_is_below(key, "position.combine"))
        return true;
    char section[16] = "";
    if ((size_t)(dot - key) < sizeof(section))
        memcpy(section, key, (size_t)(dot - key));
    if (strncmp(key, "model.attention.", 16) == 0)
        return is_row_key("attention", key + 16);
    return setting_is_section(section) && is_row_key(section, dot + 1);
}

peat_status setting_check(const char *key, struct place at, int n_other, const char *const *other,
                          struct arena *a, struct error *err)
{
    if (is_known(key))
        return PEAT_OK;
    const char *name[2 * KEYS_MAX];
    int n = all_keys(name, a);
    for (int i = 0; i < n_other && n < 2 * KEYS_MAX; i++)
        name[n++] = other[i];
    const char *near = nearest_name(key, name, n);
    if (!near)
        near = key_ending_in(key, n, name);
    if (near)
        return place_error(err, at, "unknown key '%s'; did you mean '%s'?", key, near);
    return place_error(
        err, at, "unknown key '%s'; settings start with task, model, position, train or eval", key);
}

peat_status setting_check_section(const char *section, const struct value *v, struct error *err)
{
    const char *name[KEYS_MAX];
    if (strcmp(section, "task") == 0 || v->kind == VALUE_NULL)
        return PEAT_OK;
    section_keys(section, name);
    return known_keys_only(v, section, name, err);
}

/* ---- setting one ---- */

/* How many letters of key name a plugin's place with something below; 0: none. */
static size_t plugin_prefix(const char *key)
{
    static const char *const prefix[] = {"task", "position.scheme", "position.combine"};
    for (size_t i = 0; i < sizeof(prefix) / sizeof(*prefix); i++) {
        size_t n = strlen(prefix[i]);
        if (strncmp(key, prefix[i], n) == 0 && key[n] == '.')
            return n;
    }
    return 0;
}

/* A plugin's bare name becomes {plugin: name}. */
static peat_status open_plugin(struct value **tree, const char *key, size_t prefix,
                               struct place key_at, struct arena *a, struct error *err)
{
    const char *path = arena_printf(a, "%.*s", (int)prefix, key);
    const struct value *old = value_get_path(*tree, path);
    if (!old || old->kind == VALUE_MAP)
        return PEAT_OK;
    if (old->kind != VALUE_TEXT)
        return place_error(err, key_at, "'%s' cannot be set: '%s' is %s here", key, path,
                           old->kind == VALUE_LIST ? "a list of plugins" : "no plugin");
    struct value *map = value_map(a, old->at);
    value_set(a, map, "plugin", old->at, value_text(a, old->at, old->text));
    *tree = value_with_path(a, *tree, path, old->at, map);
    return PEAT_OK;
}

peat_status setting_apply(struct value **tree, const char *key, struct place key_at,
                          struct value *item, struct arena *a, struct error *err)
{
    size_t prefix = plugin_prefix(key);
    peat_status status = prefix ? open_plugin(tree, key, prefix, key_at, a, err) : PEAT_OK;
    if (status != PEAT_OK)
        return status;
    if (setting_is_section(key) && strcmp(key, "task") != 0 && item->kind == VALUE_MAP)
        item = value_merge(a, value_get(*tree, key), item);
    *tree = value_with_path(a, *tree, key, key_at, item);
    return PEAT_OK;
}
