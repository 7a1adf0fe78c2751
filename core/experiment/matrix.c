/* SPDX-License-Identifier: MIT */
/* matrix.c: all axes of a grid, and the sections that name their labels. */

#include "cell/setting.h"
#include "reading.h"

/* ---- several axes ---- */

/* True when the axis sets `key` or a key above it; with `same`, only `key` itself. */
static bool axis_sets(const struct axis *axis, const char *key, bool same)
{
    for (int i = 0; i < axis->n_known; i++)
        for (int j = 0; j < axis->value[i].set->n; j++) {
            const char *own = axis->value[i].set->key[j];
            if (same ? strcmp(own, key) == 0 : setting_is_below(key, own))
                return true;
        }
    return false;
}

/* Axes are applied in order, and a later one must not undo a setting of an earlier one. */
static bool check_conflict(struct reading *r, const struct axis *early, const struct axis *late)
{
    for (int i = 0; i < early->n_known; i++)
        for (int j = 0; j < early->value[i].set->n; j++) {
            const char *key = early->value[i].set->key[j];
            if (axis_sets(late, key, true))
                return mistake(r->err, late->at, "'%s' is set by axis '%s' and by axis '%s'", key,
                               early->key, late->key);
            if (axis_sets(late, key, false))
                return mistake(
                    r->err, late->at,
                    "axis '%s' would undo '%s' of axis '%s'; list the first axis before the other",
                    late->key, key, early->key);
        }
    return true;
}

static bool is_special(const char *key)
{
    return strcmp(key, "exclude") == 0 || strcmp(key, "include") == 0 || strcmp(key, "only") == 0;
}

bool matrix_read(struct reading *r)
{
    struct experiment *e = r->e;
    const struct value *matrix = value_get(r->root, "matrix");
    e->matrix_at = value_key_place(r->root, "matrix");
    if (!matrix || matrix->kind == VALUE_NULL)
        return true;
    if (matrix->kind != VALUE_MAP)
        return mistake(r->err, matrix->at, "matrix must be a map: axis -> values");
    for (int i = 0; i < matrix->n; i++) {
        if (is_special(matrix->key[i]))
            continue;
        if (e->n_axis == EXPERIMENT_MAX_AXES)
            return mistake(r->err, matrix->key_at[i], "more than %d axes", EXPERIMENT_MAX_AXES);
        struct axis *axis = &e->axis[e->n_axis++];
        *axis = (struct axis){.key = matrix->key[i], .at = matrix->key_at[i]};
        bool ok = axis_read(r, axis, matrix->item[i]);
        for (int j = 0; ok && j < e->n_axis - 1; j++)
            ok = check_conflict(r, &e->axis[j], axis);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- sections that name labels ---- */

static int list_axes(const struct experiment *e, const char **name)
{
    for (int i = 0; i < e->n_axis; i++)
        name[i] = e->axis[i].key;
    return e->n_axis;
}

bool unknown_axis(struct reading *r, struct place at, const char *key, const char *what)
{
    const char *name[EXPERIMENT_MAX_AXES];
    int n = list_axes(r->e, name);
    return mistake(r->err, at, "%s names '%s', which is not an axis; %s", what, key,
                   name_hint(r->a, key, name, n, "axes"));
}

static bool resolve_one(struct reading *r, const struct axis *axis, const struct value *v,
                        struct value **label)
{
    int found = value_find(r, axis, v);
    if (found < 0)
        return unknown_label(r, axis, v);
    *label = value_text(r->a, v->at, axis->value[found].label);
    return true;
}

static bool resolve_item(struct reading *r, const struct axis *axis, const struct value *v,
                         bool one, struct value **resolved)
{
    /* [learned, alibi] is one value of the axis where a list of labels is not allowed, otherwise
     * either of the two. */
    if (v->kind != VALUE_LIST || one)
        return resolve_one(r, axis, v, resolved);
    *resolved = value_list(r->a, v->at);
    for (int i = 0; i < v->n; i++) {
        struct value *label = NULL;
        if (!resolve_one(r, axis, v->item[i], &label))
            return false;
        value_append(r->a, *resolved, label);
    }
    return true;
}

bool labels_resolve(struct reading *r, const struct value *map, const char *what, bool one,
                    struct value **resolved)
{
    if (map->kind != VALUE_MAP || map->n == 0)
        return mistake(r->err, map->at, "%s must be a map: axis -> label", what);
    *resolved = value_map(r->a, map->at);
    for (int i = 0; i < map->n; i++) {
        int axis = axis_find(r->e, map->key[i]);
        struct value *item = NULL;
        if (axis < 0)
            return unknown_axis(r, map->key_at[i], map->key[i], what);
        if (!resolve_item(r, &r->e->axis[axis], map->item[i], one, &item))
            return false;
        value_set(r->a, *resolved, map->key[i], map->key_at[i], item);
    }
    return true;
}

/* ---- exclude and include ---- */

static bool read_exclude(struct reading *r, const struct value *v)
{
    r->e->exclude = value_list(r->a, v->at);
    for (int i = 0; i < value_count(v); i++) {
        struct value *one;
        if (!labels_resolve(r, value_item(v, i), "exclude", false, &one))
            return false;
        value_append(r->a, r->e->exclude, one);
    }
    return true;
}

/* Reads the value of an axis in a cell of include; a new value is added to the known ones. */
static bool include_value(struct reading *r, struct axis *axis, struct value *v,
                          struct value **label)
{
    if (value_find(r, axis, v) < 0 && !axis->labelled) {
        if (!axis_append(r, axis, v))
            return false;
    }
    return resolve_one(r, axis, v, label);
}

static bool include_one(struct reading *r, const struct value *map, struct value **cell)
{
    struct experiment *e = r->e;
    const char *key[EXPERIMENT_MAX_AXES];
    int n = list_axes(e, key);
    if (map->kind != VALUE_MAP)
        return mistake(r->err, map->at, "a cell of include must be a map that names every axis");
    *cell = value_map(r->a, map->at);
    for (int i = 0; i < n; i++)
        if (!value_get(map, key[i]))
            return mistake(r->err, map->at,
                           "a cell of include must name every axis; '%s' is missing", key[i]);
    for (int i = 0; i < map->n; i++) {
        int axis = axis_find(e, map->key[i]);
        struct value *item = map->item[i];
        bool ok = axis < 0 ? setting_check(map->key[i], map->key_at[i], n, key, r->a, r->err)
                           : include_value(r, &e->axis[axis], map->item[i], &item);
        if (!ok)
            return false;
        value_set(r->a, *cell, map->key[i], map->key_at[i], item);
    }
    return true;
}

static bool read_include(struct reading *r, const struct value *v)
{
    r->e->include = value_list(r->a, v->at);
    if (r->e->n_axis == 0 && value_count(v) > 0)
        return mistake(r->err, v->at,
                       "'include' adds cells along axes, but the matrix has no axis");
    for (int i = 0; i < value_count(v); i++) {
        struct value *cell = NULL;
        if (!include_one(r, value_item(v, i), &cell))
            return false;
        value_append(r->a, r->e->include, cell);
    }
    return true;
}

/* axis.c has checked the labels; this checks that every key is an axis. */
static bool check_only(struct reading *r, const struct value *only)
{
    if (only && only->kind != VALUE_NULL && only->kind != VALUE_MAP)
        return mistake(r->err, only->at, "'only' must be a map: axis -> labels");
    for (int i = 0; only && i < only->n; i++)
        if (axis_find(r->e, only->key[i]) < 0)
            return unknown_axis(r, only->key_at[i], only->key[i], "only");
    return true;
}

bool cells_read(struct reading *r)
{
    const struct value *matrix = value_get(r->root, "matrix");
    const struct value *include = value_get(matrix, "include"),
                       *exclude = value_get(matrix, "exclude");
    bool ok = check_only(r, value_get(matrix, "only"));
    if (ok && include && include->kind != VALUE_NULL)
        ok = read_include(r, include);
    if (ok && exclude && exclude->kind != VALUE_NULL)
        ok = read_exclude(r, exclude);
    return ok;
}
