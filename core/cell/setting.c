/* SPDX-License-Identifier: MIT */
/* setting.c: the dotted keys that exist, and setting one in a tree. */
#include "cell/setting.h"

#include "cell/start.h"
#include "plugin/paramrow.h"

#define KEYS_MAX 128

const char setting_combine[] = "sum";
const char *const setting_sections[] = {"task", "model", "position", "train", "eval", NULL};

bool setting_is_section(const char *key)
{
    return names_find(setting_sections, key) >= 0;
}

peat_kind setting_kind(const char *key)
{
    static const struct {
        const char *key;
        peat_kind kind;
    } keys[] = {{"task", PEAT_TASK},
                {"scheme", PEAT_SCHEME},
                {"position.scheme", PEAT_SCHEME},
                {"combine", PEAT_COMBINE},
                {"position.combine", PEAT_COMBINE}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].kind;
    return 0;
}

bool setting_is_below(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

/* ---- keys that exist ---- */

static const struct section {
    const char *name;
    const peat_param *row;
    const char *key[4]; /* without a row */
} sections[] = {
    {"model", model_rows, {"attention", "embedding", "start"}},
    {"model.attention", attention_rows, {NULL}},
    {"model.embedding", &start_rows[START_FIRST_OF_EMBEDDING], {NULL}},
    {"model.start", start_rows, {NULL}},
    {"position", NULL, {"scheme", "combine"}},
    {"train", train_rows, {NULL}},
    {"eval", eval_rows, {NULL}},
};
enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

/* The section whose name has these n bytes; NULL: only a plugin knows its keys, or it does not
 * exist. */
static const struct section *find_section(const char *name, size_t n)
{
    for (int i = 0; i < SECTIONS; i++)
        if (strlen(sections[i].name) == n && strncmp(sections[i].name, name, n) == 0)
            return &sections[i];
    return NULL;
}

/* Ends the names with NULL. */
static int section_keys(const struct section *s, const char *name[KEYS_MAX])
{
    int n = 0;
    for (const peat_param *row = s ? s->row : NULL; row && row->key; row++)
        name[n++] = row->key;
    for (int i = 0; s && s->key[i]; i++)
        name[n++] = s->key[i];
    name[n] = NULL;
    return n;
}

/* The section that has the key; NULL: none. */
static const char *section_of(const char *key)
{
    const char *name[KEYS_MAX];
    for (int i = 0; i < SECTIONS; i++) {
        section_keys(&sections[i], name);
        if (names_find(name, key) >= 0)
            return sections[i].name;
    }
    return NULL;
}

/* ---- messages ---- */

/* The full key whose last part is the given word: "steps" means "train.steps". */
static const char *key_ending_in(const char *word, int n, const char *const *known)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(key_name(known[i]), word) == 0)
            return known[i];
    }
    return NULL;
}

/* The key that was meant; NULL: none is near enough. */
static const char *nearest_key(const char *key, int n, const char *const *known)
{
    const char *near = nearest_name(key, known, n);
    return near ? near : key_ending_in(key, n, known);
}

/* "unknown key 'x' in what; did you mean 'y'?" */
static bool unknown_key(struct error *err, struct place at, const char *key, const char *what,
                        int n, const char *const *known)
{
    const char *near = nearest_key(key, n, known);
    const char *section = near ? NULL : section_of(key);
    if (near || section)
        return mistake(err, at, "unknown key '%s' in %s; did you mean '%s%s%s'?", key, what,
                       section ? section : "", section ? "." : "", section ? key : near);
    struct strbuf list = STRBUF_NEW;
    strbuf_join(&list, known, n < 24 ? n : 24);
    mistake(err, at, "unknown key '%s' in %s; allowed: %s", key, what, list.text);
    strbuf_release(&list);
    return false;
}

bool known_keys_only(const struct value *map, const char *what, const char *const *known,
                     struct error *err)
{
    if (map->kind != VALUE_MAP)
        return mistake(err, map->at, "%s must be a map of keys and values such as {%s: ...}", what,
                       known[0]);
    for (int i = 0; i < map->n; i++)
        if (names_find(known, map->key[i]) < 0)
            return unknown_key(err, map->key_at[i], map->key[i], what, names_count(known), known);
    return true;
}

static int all_keys(const char *name[KEYS_MAX], struct arena *a)
{
    int n = 0;
    name[n++] = "task";
    for (int s = 0; s < SECTIONS; s++) {
        const char *key[KEYS_MAX];
        int keys = section_keys(&sections[s], key);
        for (int i = 0; i < keys && n < KEYS_MAX; i++)
            name[n++] = arena_printf(a, "%s.%s", sections[s].name, key[i]);
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
    const char *name[KEYS_MAX], *last = strrchr(key, '.');
    section_keys(find_section(key, (size_t)(last - key)), name);
    return names_find(name, last + 1) >= 0;
}

bool setting_check(const char *key, struct place at, int n_other, const char *const *other,
                   struct arena *a, struct error *err)
{
    if (is_known(key))
        return true;
    const char *name[2 * KEYS_MAX];
    int n = all_keys(name, a);
    for (int i = 0; i < n_other && n < 2 * KEYS_MAX; i++)
        name[n++] = other[i];
    const char *near = nearest_key(key, n, name);
    if (near)
        return mistake(err, at, "unknown key '%s'; did you mean '%s'?", key, near);
    const char *last = strrchr(key, '.');
    const struct section *s = last ? find_section(key, (size_t)(last - key)) : NULL;
    if (!s)
        return mistake(err, at,
                       "unknown key '%s'; settings start with task, model, position, train or eval",
                       key);
    section_keys(s, name);
    return unknown_key(err, at, last + 1, s->name, names_count(name), name);
}

bool setting_takes_list(const char *key)
{
    const char *last = strrchr(key, '.');
    const struct section *s = last ? find_section(key, (size_t)(last - key)) : NULL;
    const peat_param *row = s ? rows_find(s->row, last + 1) : NULL;
    return row ? row_type(row)->item != NULL : strcmp(key, "model.start") == 0;
}

bool setting_check_section(const char *section, const struct value *v, struct error *err)
{
    const char *name[KEYS_MAX];
    if (strcmp(section, "task") == 0 || v->kind == VALUE_NULL)
        return true;
    section_keys(find_section(section, strlen(section)), name);
    return known_keys_only(v, section, name, err);
}

/* ---- setting one ---- */

/* Settings that may be a text. A key below one makes it a map with the text under `key`. */
static const struct opened {
    const char *prefix, *key, *list, *other;
} opened[] = {{"task", "plugin", "a list of plugins", "no plugin"},
              {"position.scheme", "plugin", "a list of plugins", "no plugin"},
              {"position.combine", "plugin", "a list of plugins", "no plugin"},
              {"model.embedding", "from", "a list", "no path"},
              {"model.start", "from", "a list", "no path"}};

/* The setting above the key; NULL: none. */
static const struct opened *opened_by(const char *key)
{
    for (size_t i = 0; i < sizeof(opened) / sizeof(*opened); i++) {
        size_t n = strlen(opened[i].prefix);
        if (strncmp(key, opened[i].prefix, n) == 0 && key[n] == '.')
            return &opened[i];
    }
    return NULL;
}

/* A plugin's bare name becomes {plugin: name}. */
static bool open_text(struct value **tree, const char *key, const struct opened *o,
                      struct place key_at, struct arena *a, struct error *err)
{
    const struct value *old = value_get_path(*tree, o->prefix);
    if (!old || old->kind == VALUE_MAP)
        return true;
    if (old->kind != VALUE_TEXT)
        return mistake(err, key_at, "'%s' cannot be set: '%s' is %s here", key, o->prefix,
                       old->kind == VALUE_LIST ? o->list : o->other);
    struct value *map = value_map(a, old->at);
    value_set(a, map, o->key, old->at, value_text(a, old->at, old->text));
    *tree = value_with_path(a, *tree, o->prefix, old->at, map);
    return true;
}

bool setting_apply(struct value **tree, const char *key, struct place key_at, struct value *item,
                   struct arena *a, struct error *err)
{
    const struct opened *o = opened_by(key);
    if (o && !open_text(tree, key, o, key_at, a, err))
        return false;
    if (setting_is_section(key) && strcmp(key, "task") != 0 && item->kind == VALUE_MAP)
        item = value_merge(a, value_get(*tree, key), item);
    *tree = value_with_path(a, *tree, key, key_at, item);
    return true;
}
