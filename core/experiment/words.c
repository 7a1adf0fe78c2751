/* SPDX-License-Identifier: MIT */
/* words.c: the command line's key=value words. */

#include "experiment/words.h"
#include "cell/setting.h"
#include "experiment/yamldoc.h"
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
