/* SPDX-License-Identifier: MIT */
/*
 * known_plugins.c: reports unknown plugins before labels that follow from their names.
 *
 * With position.scheme: [rotray] and a baseline of rotary, only the first is a mistake, and it is
 * reported first.
 */

#include "cell/setting.h"
#include "plugin/registry.h"
#include "reading.h"

struct known {
    struct reading *r;
    struct registry registry;
};

/* Sections that contain labels, which are checked later. */
static bool holds_labels(const char *key)
{
    return !strcmp(key, "exclude") || !strcmp(key, "include") || !strcmp(key, "only") ||
           !strcmp(key, "when");
}

/* The command line sets the key, so the file's value is not used. */
static bool is_replaced(const struct reading *r, const char *key)
{
    return word_find(r, key) || value_get(value_get_path(r->root, "matrix.only"), key);
}

static bool check(struct known *k, peat_kind kind, const struct value *v)
{
    bool ok = true;
    if (kind && v->kind == VALUE_TEXT)
        return registry_expect(&k->registry, kind, v->text, v->at, k->r->err) == PEAT_OK;
    for (int i = 0; ok && v->kind == VALUE_LIST && i < v->n; i++)
        ok = check(k, kind, v->item[i]);
    for (int i = 0; ok && v->kind == VALUE_MAP && i < v->n; i++) {
        bool names = !strcmp(v->key[i], "plugin") || !strcmp(v->key[i], "value");
        if (kind ? names : !holds_labels(v->key[i]) && !is_replaced(k->r, v->key[i]))
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
