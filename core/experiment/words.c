/* SPDX-License-Identifier: MIT */
/* words.c: the command line's key=value words. */
#include <string.h>

#include "cell/setting.h"
#include "experiment/yamldoc.h"
#include "reading.h"

static peat_status word_read(struct reading *r, int i, const char *text)
{
    struct word *w = &r->word[i];
    const char *equals = strchr(text, '=');
    w->at = (struct place){"command line", i + 1, 0};
    if (!equals || equals == text)
        return place_error(r->err, w->at, "'%s' is not of the form key=value", text);
    w->key = arena_printf(r->a, "%.*s", (int)(equals - text), text);
    if (!w->key)
        return error_set(r->err, PEAT_NOMEM, "out of memory");
    for (int j = 0; j < i; j++)
        if (strcmp(r->word[j].key, w->key) == 0)
            return place_error(r->err, w->at, "'%s' is given twice", w->key);
    return yaml_value(r->a, equals + 1, w->at, &w->value, r->err);
}

peat_status words_read(struct reading *r, int n, char *const *text)
{
    peat_status status = PEAT_OK;
    r->n_word = n;
    r->word = ARENA_ARRAY(r->a, n + 1, struct word);
    if (!r->word)
        return error_set(r->err, PEAT_NOMEM, "out of memory");
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = word_read(r, i, text[i]);
    return status;
}

/* The top-level key that the word addresses, or NULL. */
static const char *top_level(const struct word *w)
{
    for (int i = 0; experiment_keys[i]; i++)
        if (setting_is_below(w->key, experiment_keys[i]))
            return experiment_keys[i];
    return NULL;
}

peat_status words_to_root(struct reading *r)
{
    for (int i = 0; i < r->n_word; i++) {
        struct word *w = &r->word[i];
        const char *top = top_level(w);
        if (!top)
            continue;
        if (strcmp(top, "defaults") == 0)
            return place_error(r->err, w->at, "leave 'defaults.' out: write train.steps=10");
        if (strcmp(top, "matrix") == 0)
            return place_error(r->err, w->at, "leave 'matrix.' out: write AXIS=VALUE");
        w->used = true;
        r->root = value_with_path(r->a, r->root, w->key, w->at, w->value);
    }
    return PEAT_OK;
}

peat_status words_to_settings(struct reading *r)
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
        peat_status status = setting_check(w->key, w->at, n, other, r->a, r->err);
        if (status != PEAT_OK)
            return status;
        value_set(r->a, r->e->command_line, w->key, w->at, w->value);
    }
    return PEAT_OK;
}
