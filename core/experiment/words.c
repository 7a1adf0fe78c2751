/* SPDX-License-Identifier: MIT */
/* words.c: the command line's key=value words. */

#include "experiment/words.h"
#include "cell/setting.h"
#include "experiment/yamldoc.h"
#include "plugin/paramrow.h"
#include "plugin/registry.h"
#include "process/apart.h"
#include "reading.h"

const char *const experiment_keys[] = {
    "version", "name", "description", "defaults", "matrix",    "overrides", "seeds",
    "match",   "run",  "report",      "claims",   "made_with", "extends",   NULL};

static peat_status read_word(struct arena *a, int i, const char *text, struct value *map,
                             struct error *err)
{
    const char *equals = strchr(text, '=');
    struct place at = {"command line", i + 1, 0};
    struct value *value;
    if (!equals || equals == text)
        return place_error(err, at, "'%s' is not of the form key=value", text);
    const char *key = arena_printf(a, "%.*s", (int)(equals - text), text);
    if (value_get(map, key))
        return place_error(err, at, "'%s' is given twice", key);
    peat_status status = yaml_value(a, equals + 1, at, &value, err);
    if (status == PEAT_OK)
        value_set(a, map, key, at, value);
    return status;
}

peat_status words_map(struct arena *a, int n, char *const *text, struct value **map,
                      struct error *err)
{
    peat_status status = PEAT_OK;
    *map = value_map(a, (struct place){"command line", 0, 0});
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = read_word(a, i, text[i], *map, err);
    return status;
}

bool words_read(struct reading *r, int n, char *const *text)
{
    struct value *map;
    bool ok = words_map(r->a, n, text, &map, r->err) == PEAT_OK;
    r->n_word = map->n;
    r->word = ARENA_ARRAY(r->a, map->n + 1, struct word);
    for (int i = 0; i < map->n; i++)
        r->word[i] = (struct word){map->key[i], map->item[i], map->key_at[i]};
    return ok;
}

struct word *word_find(const struct reading *r, const char *key)
{
    for (int i = 0; i < r->n_word; i++)
        if (strcmp(r->word[i].key, key) == 0)
            return &r->word[i];
    return NULL;
}

/* The top-level key that the word sets, or NULL. */
static const char *top_level(const struct word *w)
{
    for (int i = 0; experiment_keys[i]; i++)
        if (setting_is_below(w->key, experiment_keys[i]))
            return experiment_keys[i];
    return NULL;
}

bool words_to_root(struct reading *r)
{
    for (int i = 0; i < r->n_word; i++) {
        struct word *w = &r->word[i];
        const char *top = top_level(w);
        if (!top)
            continue;
        if (strcmp(top, "defaults") == 0)
            return mistake(r->err, w->at, "leave 'defaults.' out: write train.steps=10");
        if (strcmp(top, "matrix") == 0)
            return mistake(r->err, w->at, "leave 'matrix.' out: write AXIS=VALUE");
        if (strcmp(top, "extends") == 0)
            return mistake(r->err, w->at, "'extends' stands in the file alone");
        w->used = true;
        r->root = value_with_path(r->a, r->root, w->key, w->at, w->value);
    }
    return true;
}

bool words_to_settings(struct reading *r)
{
    const char *other[64];
    int n = 0;
    for (; experiment_keys[n]; n++)
        other[n] = experiment_keys[n];
    for (int i = 0; i < r->e->n_axis; i++)
        other[n++] = r->e->axis[i].key;
    r->e->command_line = value_map(r->a, (struct place){"command line", 1, 0});
    for (int i = 0; i < r->n_word; i++) {
        const struct word *w = &r->word[i];
        if (w->used)
            continue;
        if (!setting_check(w->key, w->at, n, other, r->a, r->err))
            return false;
        value_set(r->a, r->e->command_line, w->key, w->at, w->value);
    }
    return true;
}

/* ---- lists that become axes: train.lr=[1e-3, 2e-3] ---- */

/* Some settings are lists themselves, eval.lengths and the path of a text among them. A list stays
 * the value of such a setting; a list of lists is an axis of it. */

/* A key below a plugin: "path", for the tasks that the file names. */
struct question {
    struct reading *r;
    peat_kind kind;
    const char *key;
};

/* Asks a child process: "list" where a plugin of the kind that the file or a word names has a
 * parameter of that name that is a list. */
static peat_status words_ask(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct question *q = ctx;
    struct arena arena;
    struct registry registry;
    arena_init(&arena, "lists", 1 << 14);
    const struct value *m = plugin_mentions(q->r, &arena);
    peat_status status = registry_init(&registry, &arena, trail, err);
    for (int i = 0; status == PEAT_OK && i < m->n; i++) {
        const struct plugin *plugin;
        const peat_param *row = NULL;
        if (registry_find(&registry, q->kind, m->item[i]->text, m->item[i]->at, &plugin, NULL) ==
            PEAT_OK)
            row = rows_find(plugin->desc->param, q->key);
        if (row && row_type(row)->item && !out->n)
            strbuf_add(out, "list");
    }
    arena_release(&arena);
    return status;
}

/* Asks the plugin for a key that only a plugin knows. */
static bool takes_list(struct reading *r, const char *key)
{
    static const struct {
        const char *prefix;
        peat_kind kind;
    } kinds[] = {{"task.", PEAT_TASK},
                 {"position.scheme.", PEAT_SCHEME},
                 {"position.combine.", PEAT_COMBINE}};
    struct strbuf answer = STRBUF_NEW;
    struct error ignored = {0};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t n = strlen(kinds[i].prefix);
        if (strncmp(key, kinds[i].prefix, n) != 0)
            continue;
        struct question q = {r, kinds[i].kind, key + n};
        apart_run(words_ask, &q, APART_SECONDS, APART_ASIDE, &answer, NULL, &ignored);
        bool yes = answer.n > 0 || strncmp(key + n, "where.", 6) == 0;
        strbuf_release(&answer);
        return yes;
    }
    return setting_takes_list(key);
}

static bool holds_list(const struct value *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->item[i]->kind == VALUE_LIST)
            return true;
    return false;
}

static bool becomes_axis(struct reading *r, const struct value *matrix, const struct word *w)
{
    struct error ignored = {0};
    return !w->used && w->value->kind == VALUE_LIST && !value_get(matrix, w->key) &&
           setting_check(w->key, w->at, 0, NULL, r->a, &ignored) &&
           (holds_list(w->value) || !takes_list(r, w->key));
}

bool list_words_read(struct reading *r)
{
    struct value *matrix = value_get(r->root, "matrix");
    if (matrix && matrix->kind != VALUE_MAP && matrix->kind != VALUE_NULL)
        return true; /* matrix_read reports it */
    for (int i = 0; i < r->n_word; i++) {
        struct word *w = &r->word[i];
        if (!becomes_axis(r, matrix, w))
            continue;
        if (!matrix || matrix->kind == VALUE_NULL) {
            matrix = value_map(r->a, w->at);
            value_set(r->a, r->root, "matrix", w->at, matrix);
        }
        value_set(r->a, matrix, w->key, w->at, w->value);
        w->used = true;
    }
    return true;
}
