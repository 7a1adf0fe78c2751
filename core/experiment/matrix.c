/* SPDX-License-Identifier: MIT */
/* matrix.c: the axes of a grid, and the labels by which everything else names their values. */
#include <string.h>

#include "cell/setting.h"
#include "reading.h"

/* Names of table columns that an axis would hide. */
static const char *const taken_names[] = {"exclude", "include", "experiment", "cell",
                                          "scheme",  "combine", "seed",       "metric",
                                          "split",   "length",  "step",       "value"};

int axis_find(const struct experiment *e, const char *key)
{
    for (int i = 0; i < e->n_axis; i++)
        if (strcmp(e->axis[i].key, key) == 0)
            return i;
    return -1;
}

/* ---- values ---- */

static int label_find(const struct axis *axis, int n, const char *label)
{
    for (int i = 0; i < n; i++)
        if (strcmp(axis->value[i].label, label) == 0)
            return i;
    return -1;
}

/* The setting of an axis that is not labelled. */
static const struct value *only_setting(const struct axis_value *v)
{
    return v->set->item[0];
}

static struct axis_value plain_value(struct reading *r, const struct axis *axis, struct value *v)
{
    struct value *set = value_map(r->a, v->at);
    value_set(r->a, set, axis->key, v->at, v);
    return (struct axis_value){value_label(r->a, v), set};
}

/* Appends after n_known. */
static peat_status append(struct reading *r, struct axis *axis, struct axis_value v)
{
    int n = axis->n_known;
    if (n == 0 || (n >= 8 && (n & (n - 1)) == 0)) {
        struct axis_value *larger = ARENA_ARRAY(r->a, n < 8 ? 8 : 2 * n, struct axis_value);
        if (!larger)
            return error_set(r->err, PEAT_NOMEM, "out of memory");
        if (n)
            memcpy(larger, axis->value, (size_t)n * sizeof(*larger));
        axis->value = larger;
    }
    axis->value[axis->n_known++] = v;
    return PEAT_OK;
}

static peat_status refuse_twice(struct reading *r, const struct axis *axis, struct place at,
                                const struct axis_value *first)
{
    if (first->set->at.line > 0 && first->set->at.column > 0)
        return place_error(r->err, at, "axis '%s' has the value '%s' twice; first at line %d",
                           axis->key, first->label, first->set->at.line);
    return place_error(r->err, at, "axis '%s' has the value '%s' twice", axis->key, first->label);
}

static peat_status append_plain(struct reading *r, struct axis *axis, struct value *v)
{
    struct axis_value new = plain_value(r, axis, v);
    if (v->kind == VALUE_NULL || (v->kind == VALUE_TEXT && !v->text[0]))
        return place_error(r->err, v->at, "axis '%s' has an empty value", axis->key);
    for (int i = 0; i < axis->n_known; i++)
        if (strcmp(axis->value[i].label, new.label) == 0 ||
            value_equal(only_setting(&axis->value[i]), v))
            return refuse_twice(r, axis, v->at, &axis->value[i]);
    return append(r, axis, new);
}

static peat_status check_settings(struct reading *r, const struct value *set, const char *what)
{
    if (set->kind != VALUE_MAP)
        return place_error(r->err, set->at, "%s must be a map of settings such as train.lr: 1e-3",
                           what);
    for (int i = 0; i < set->n; i++) {
        peat_status status = setting_check(set->key[i], set->key_at[i], 0, NULL, r->a, r->err);
        if (status != PEAT_OK)
            return status;
    }
    return PEAT_OK;
}

static peat_status append_labelled(struct reading *r, struct axis *axis, const char *label,
                                   struct place at, struct value *set)
{
    const char *what = arena_printf(r->a, "'%s' of axis '%s'", label, axis->key);
    BUG_UNLESS(what);
    peat_status status = check_settings(r, set, what);
    for (int i = 0; status == PEAT_OK && i < axis->n_known; i++)
        if (value_equal(axis->value[i].set, set))
            return place_error(r->err, at, "'%s' and '%s' of axis '%s' are the same settings",
                               axis->value[i].label, label, axis->key);
    return status != PEAT_OK ? status
                             : append(r, axis, (struct axis_value){arena_strdup(r->a, label), set});
}

/* ---- one axis ---- */

static bool is_plain_name(const char *key)
{
    return key[0] != '-' && key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-")] == '\0';
}

static peat_status check_labelled(struct reading *r, const struct axis *axis, const struct value *v)
{
    bool taken = false;
    for (size_t i = 0; i < sizeof(taken_names) / sizeof(*taken_names); i++)
        taken = taken || strcmp(axis->key, taken_names[i]) == 0;
    for (int i = 0; experiment_keys[i]; i++)
        taken = taken || strcmp(axis->key, experiment_keys[i]) == 0;
    if (v->kind != VALUE_MAP && strcmp(axis->key, "seed") != 0) {
        static const char *const position[] = {"position.scheme", "position.combine"};
        const char *meant = strcmp(axis->key, "scheme") == 0    ? position[0]
                            : strcmp(axis->key, "combine") == 0 ? position[1]
                                                                : NULL;
        if (meant)
            return place_error(r->err, axis->at, "unknown axis '%s'; did you mean '%s'?", axis->key,
                               meant);
        return place_error(r->err, axis->at,
                           "axis '%s' has no dot, so it must be a map: label -> settings",
                           axis->key);
    }
    if (taken)
        return place_error(r->err, axis->at, "'%s' cannot be the name of an axis%s", axis->key,
                           strcmp(axis->key, "seed") == 0 || strcmp(axis->key, "seeds") == 0
                               ? "; seeds are a key of their own at the top level"
                               : "");
    if (!is_plain_name(axis->key))
        return place_error(r->err, axis->at,
                           "an axis is named with letters, digits, '_' and '-', not '%s'",
                           axis->key);
    return PEAT_OK;
}

static peat_status empty_axis(struct reading *r, const struct axis *axis, struct place at)
{
    return place_error(r->err, at, "axis '%s' has no values", axis->key);
}

static peat_status read_labelled(struct reading *r, struct axis *axis, const struct value *v)
{
    peat_status status = check_labelled(r, axis, v);
    if (status == PEAT_OK && v->n == 0)
        return empty_axis(r, axis, v->at);
    for (int i = 0; status == PEAT_OK && i < v->n; i++)
        status = append_labelled(r, axis, v->key[i], v->key_at[i], v->item[i]);
    return status;
}

static peat_status read_plain(struct reading *r, struct axis *axis, const struct value *v)
{
    peat_status status = setting_check(axis->key, axis->at, 0, NULL, r->a, r->err);
    if (status != PEAT_OK)
        return status;
    if (v->kind != VALUE_LIST)
        return place_error(r->err, v->at, "axis '%s' must be a list of values", axis->key);
    if (v->n == 0)
        return empty_axis(r, axis, v->at);
    for (int i = 0; status == PEAT_OK && i < v->n; i++)
        status = append_plain(r, axis, v->item[i]);
    return status;
}

/* ---- narrowing by the command line ---- */

static struct word *word_of(struct reading *r, const struct axis *axis)
{
    for (int i = 0; i < r->n_word; i++)
        if (strcmp(r->word[i].key, axis->key) == 0)
            return &r->word[i];
    return NULL;
}

static peat_status unknown_label(struct reading *r, const struct axis *axis, struct place at,
                                 const char *label)
{
    struct strbuf list;
    const char **name = ARENA_ARRAY(r->a, axis->n_known + 1, const char *);
    if (!name)
        return error_set(r->err, PEAT_NOMEM, "out of memory");
    strbuf_init(&list);
    for (int i = 0; i < axis->n_known; i++) {
        name[i] = axis->value[i].label;
        strbuf_addf(&list, "%s%s", i ? ", " : "", name[i]);
    }
    const char *near = nearest_name(label, name, axis->n_known);
    peat_status status =
        near ? place_error(r->err, at, "axis '%s' has no value '%s'; did you mean '%s'?", axis->key,
                           label, near)
             : place_error(r->err, at, "axis '%s' has no value '%s'; it has: %s", axis->key, label,
                           list.text);
    strbuf_release(&list);
    return status;
}

/* The value that v names, by its label or as it is written; -1 when none. */
static int value_find(struct reading *r, const struct axis *axis, const struct value *v)
{
    int found = label_find(axis, axis->n_known, value_label(r->a, v));
    for (int i = 0; found < 0 && !axis->labelled && i < axis->n_known; i++)
        if (value_equal(only_setting(&axis->value[i]), v))
            found = i;
    return found;
}

/* One value the command line asks for: of a labelled axis, one that the file has. */
static peat_status narrow_to(struct reading *r, const struct axis *old, struct axis *axis,
                             struct value *v)
{
    if (!axis->labelled)
        return append_plain(r, axis, v);
    int found = value_find(r, old, v);
    if (found < 0)
        return unknown_label(r, old, v->at, value_label(r->a, v));
    if (label_find(axis, axis->n_known, old->value[found].label) >= 0)
        return refuse_twice(r, axis, v->at, &old->value[found]);
    return append(r, axis, old->value[found]);
}

/* A word that names the axis replaces its values; the file's stay known, so that what names them
 * elsewhere in the file is no mistake. */
static peat_status narrow(struct reading *r, struct axis *axis)
{
    struct word *w = word_of(r, axis);
    if (!w)
        return PEAT_OK;
    struct axis old = *axis;
    bool list = w->value->kind == VALUE_LIST;
    int n = list ? w->value->n : 1;
    w->used = true;
    if (n == 0)
        return empty_axis(r, axis, w->at);
    axis->n_known = 0;
    axis->at = w->at;
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = narrow_to(r, &old, axis, list ? w->value->item[i] : w->value);
    axis->n = axis->n_known;
    for (int i = 0; status == PEAT_OK && i < old.n_known; i++)
        if (label_find(axis, axis->n_known, old.value[i].label) < 0)
            status = append(r, axis, old.value[i]);
    return status;
}

static peat_status axis_read(struct reading *r, struct axis *axis, const struct value *v)
{
    axis->labelled = !strchr(axis->key, '.') && !setting_is_section(axis->key);
    peat_status status = axis->labelled ? read_labelled(r, axis, v) : read_plain(r, axis, v);
    axis->n = axis->n_known;
    return status != PEAT_OK ? status : narrow(r, axis);
}

/* ---- several axes ---- */

/* True when the axis makes the setting `key` or one above it; exactly it when `same`. */
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

/* Axes are applied in order: a later one must not undo what an earlier one set. */
static peat_status check_conflict(struct reading *r, const struct axis *early,
                                  const struct axis *late)
{
    for (int i = 0; i < early->n_known; i++)
        for (int j = 0; j < early->value[i].set->n; j++) {
            const char *key = early->value[i].set->key[j];
            if (axis_sets(late, key, true))
                return place_error(r->err, late->at, "'%s' is set by axis '%s' and by axis '%s'",
                                   key, early->key, late->key);
            if (axis_sets(late, key, false))
                return place_error(r->err, late->at,
                                   "axis '%s' would undo '%s' of axis '%s'; put it before that",
                                   late->key, key, early->key);
        }
    return PEAT_OK;
}

static bool is_special(const char *key)
{
    return strcmp(key, "exclude") == 0 || strcmp(key, "include") == 0;
}

peat_status matrix_read(struct reading *r)
{
    struct experiment *e = r->e;
    const struct value *matrix = value_get(r->root, "matrix");
    e->matrix_at = value_key_place(r->root, "matrix");
    if (!matrix || matrix->kind == VALUE_NULL)
        return PEAT_OK;
    if (matrix->kind != VALUE_MAP)
        return place_error(r->err, matrix->at, "matrix must be a map: axis -> values");
    for (int i = 0; i < matrix->n; i++) {
        if (is_special(matrix->key[i]))
            continue;
        if (e->n_axis == EXPERIMENT_MAX_AXES)
            return place_error(r->err, matrix->key_at[i], "more than %d axes", EXPERIMENT_MAX_AXES);
        struct axis *axis = &e->axis[e->n_axis++];
        *axis = (struct axis){.key = matrix->key[i], .at = matrix->key_at[i]};
        peat_status status = axis_read(r, axis, matrix->item[i]);
        for (int j = 0; status == PEAT_OK && j < e->n_axis - 1; j++)
            status = check_conflict(r, &e->axis[j], axis);
        if (status != PEAT_OK)
            return status;
    }
    return PEAT_OK;
}

/* ---- what names labels ---- */

static peat_status unknown_axis(struct reading *r, struct place at, const char *key,
                                const char *what)
{
    const char *name[EXPERIMENT_MAX_AXES];
    struct strbuf list;
    strbuf_init(&list);
    for (int i = 0; i < r->e->n_axis; i++) {
        name[i] = r->e->axis[i].key;
        strbuf_addf(&list, "%s%s", i ? ", " : "", name[i]);
    }
    const char *near = nearest_name(key, name, r->e->n_axis);
    peat_status status =
        near ? place_error(r->err, at, "%s names '%s', which is no axis; did you mean '%s'?", what,
                           key, near)
             : place_error(r->err, at, "%s names '%s', which is no axis; axes: %s", what, key,
                           list.n ? list.text : "none");
    strbuf_release(&list);
    return status;
}

static peat_status resolve_one(struct reading *r, const struct axis *axis, const struct value *v,
                               struct value **label)
{
    int found = value_find(r, axis, v);
    if (found < 0)
        return unknown_label(r, axis, v->at, value_label(r->a, v));
    *label = value_text(r->a, v->at, axis->value[found].label);
    return PEAT_OK;
}

static peat_status resolve_item(struct reading *r, const struct axis *axis, const struct value *v,
                                bool one, struct value **resolved)
{
    /* [learned, alibi] as one value of the axis where no list may stand, else any of both. */
    if (v->kind != VALUE_LIST || one)
        return resolve_one(r, axis, v, resolved);
    *resolved = value_list(r->a, v->at);
    for (int i = 0; i < v->n; i++) {
        struct value *label = NULL;
        peat_status status = resolve_one(r, axis, v->item[i], &label);
        if (status != PEAT_OK)
            return status;
        value_append(r->a, *resolved, label);
    }
    return PEAT_OK;
}

peat_status labels_resolve(struct reading *r, const struct value *map, const char *what, bool one,
                           struct value **resolved)
{
    if (map->kind != VALUE_MAP || map->n == 0)
        return place_error(r->err, map->at, "%s must be a map: axis -> label", what);
    *resolved = value_map(r->a, map->at);
    for (int i = 0; i < map->n; i++) {
        int axis = axis_find(r->e, map->key[i]);
        struct value *item = NULL;
        if (axis < 0)
            return unknown_axis(r, map->key_at[i], map->key[i], what);
        peat_status status = resolve_item(r, &r->e->axis[axis], map->item[i], one, &item);
        if (status != PEAT_OK)
            return status;
        value_set(r->a, *resolved, map->key[i], map->key_at[i], item);
    }
    return PEAT_OK;
}

/* ---- exclude and include ---- */

static peat_status read_exclude(struct reading *r, const struct value *v)
{
    bool list = v->kind == VALUE_LIST;
    r->e->exclude = value_list(r->a, v->at);
    for (int i = 0; i < (list ? v->n : 1); i++) {
        struct value *one;
        peat_status status = labels_resolve(r, list ? v->item[i] : v, "exclude", false, &one);
        if (status != PEAT_OK)
            return status;
        value_append(r->a, r->e->exclude, one);
    }
    return PEAT_OK;
}

/* An axis value of a cell of include; one that the product lacks becomes known. */
static peat_status include_value(struct reading *r, struct axis *axis, struct value *v,
                                 struct value **label)
{
    int found = value_find(r, axis, v);
    if (found < 0 && axis->labelled)
        return unknown_label(r, axis, v->at, value_label(r->a, v));
    if (found < 0) {
        peat_status status = append_plain(r, axis, v);
        if (status != PEAT_OK)
            return status;
        found = axis->n_known - 1;
    }
    *label = value_text(r->a, v->at, axis->value[found].label);
    return PEAT_OK;
}

static peat_status include_one(struct reading *r, const struct value *map, struct value **cell)
{
    struct experiment *e = r->e;
    if (map->kind != VALUE_MAP)
        return place_error(r->err, map->at,
                           "a cell of include must be a map that names every axis");
    *cell = value_map(r->a, map->at);
    for (int i = 0; i < e->n_axis; i++)
        if (!value_get(map, e->axis[i].key))
            return place_error(r->err, map->at,
                               "a cell of include must name every axis; '%s' is missing",
                               e->axis[i].key);
    for (int i = 0; i < map->n; i++) {
        int axis = axis_find(e, map->key[i]);
        const char *keys[EXPERIMENT_MAX_AXES];
        for (int j = 0; j < e->n_axis; j++)
            keys[j] = e->axis[j].key;
        struct value *item = map->item[i];
        peat_status status =
            axis < 0 ? setting_check(map->key[i], map->key_at[i], e->n_axis, keys, r->a, r->err)
                     : include_value(r, &e->axis[axis], map->item[i], &item);
        if (status != PEAT_OK)
            return status;
        value_set(r->a, *cell, map->key[i], map->key_at[i], item);
    }
    return PEAT_OK;
}

static peat_status read_include(struct reading *r, const struct value *v)
{
    bool list = v->kind == VALUE_LIST;
    r->e->include = value_list(r->a, v->at);
    if (r->e->n_axis == 0 && !(list && v->n == 0))
        return place_error(r->err, v->at, "include adds cells to axes, and there is no axis");
    for (int i = 0; i < (list ? v->n : 1); i++) {
        struct value *cell = NULL;
        peat_status status = include_one(r, list ? v->item[i] : v, &cell);
        if (status != PEAT_OK)
            return status;
        value_append(r->a, r->e->include, cell);
    }
    return PEAT_OK;
}

peat_status cells_read(struct reading *r)
{
    const struct value *matrix = value_get(r->root, "matrix");
    const struct value *include = value_get(matrix, "include"),
                       *exclude = value_get(matrix, "exclude");
    peat_status status = PEAT_OK;
    if (include && include->kind != VALUE_NULL)
        status = read_include(r, include);
    if (status == PEAT_OK && exclude && exclude->kind != VALUE_NULL)
        status = read_exclude(r, exclude);
    return status;
}
