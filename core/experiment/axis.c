/* SPDX-License-Identifier: MIT */
/* axis.c: one axis of a grid: its values, their labels, and those that the command line chooses. */

#include "cell/setting.h"
#include "reading.h"

/* Names of table columns that an axis would hide. */
static const char *const taken_names[] = {"exclude", "include", "only",  "experiment", "cell",
                                          "scheme",  "combine", "seed",  "metric",     "split",
                                          "length",  "step",    "value", NULL};

int axis_find(const struct experiment *e, const char *key)
{
    for (int i = 0; i < e->n_axis; i++)
        if (strcmp(e->axis[i].key, key) == 0)
            return i;
    return -1;
}

/* ---- values ---- */

int label_find(const struct axis *axis, const char *label)
{
    return text_index_find(&axis->by_label, label);
}

/* The setting of an axis without labels. */
static const struct value *only_setting(const struct axis_value *v)
{
    return v->set->item[0];
}

/* {label: TEXT, value: ...}: a value with a label of its own. */
static bool has_label(const struct value *v)
{
    const struct value *label = value_get(v, "label");
    return v->kind == VALUE_MAP && v->n == 2 && value_get(v, "value") && label &&
           label->kind == VALUE_TEXT && label->text[0];
}

static const char *label_of(struct reading *r, const struct value *v)
{
    return has_label(v) ? value_get(v, "label")->text : value_label(r->a, &r->e->names, v);
}

/* A plugin's map, or a list of such, without labels. */
static struct value *without_labels(struct reading *r, const struct value *v)
{
    struct value *copy = v->kind == VALUE_LIST ? value_list(r->a, v->at) : value_map(r->a, v->at);
    if (v->kind != VALUE_LIST && !use_label(v))
        return (struct value *)(uintptr_t)v;
    for (int i = 0; i < v->n; i++)
        if (v->kind == VALUE_LIST)
            value_append(r->a, copy, without_labels(r, v->item[i]));
        else if (strcmp(v->key[i], "label") != 0)
            value_set(r->a, copy, v->key[i], v->key_at[i], v->item[i]);
    return copy;
}

/* Equal settings give equal texts. */
static const char *setting_text(struct reading *r, const struct value *v)
{
    return json_to_text(without_labels(r, v), JSON_CANONICAL, r->a);
}

/* Other names of a value are its label as in names of cells, and with the path of a plugin. */
static void append_value(struct reading *r, struct axis *axis, struct axis_value v)
{
    int i = axis->n_known;
    const char *setting = axis->labelled ? json_to_text(v.set, JSON_CANONICAL, r->a)
                                         : setting_text(r, only_setting(&v));
    *ARENA_APPEND(r->a, axis->value, axis->n_known, axis->room) = v;
    text_index_add(&axis->by_label, r->a, v.label, i);
    text_index_add(&axis->by_setting, r->a, setting, i);
    text_index_add(&axis->by_other_name, r->a, label_file_name(r->a, v.label), i);
    if (!axis->labelled)
        text_index_add(&axis->by_other_name, r->a, value_label(r->a, NULL, only_setting(&v)), i);
}

static bool refuse_twice(struct reading *r, const struct axis *axis, struct place at,
                         const struct axis_value *first)
{
    if (first->set->at.line > 0 && first->set->at.column > 0)
        return mistake(r->err, at, "axis '%s' has the value '%s' twice; first at line %d",
                       axis->key, first->label, first->set->at.line);
    return mistake(r->err, at, "axis '%s' has the value '%s' twice", axis->key, first->label);
}

bool axis_append(struct reading *r, struct axis *axis, struct value *v)
{
    struct axis_value new = {label_of(r, v), value_map(r->a, v->at)};
    value_set(r->a, new.set, axis->key, v->at, has_label(v) ? value_get(v, "value") : v);
    if (v->kind == VALUE_NULL || (v->kind == VALUE_TEXT && !v->text[0]))
        return mistake(r->err, v->at, "axis '%s' has an empty value", axis->key);
    int label = label_find(axis, new.label);
    int setting = text_index_find(&axis->by_setting, setting_text(r, only_setting(&new)));
    int first = label < 0 || (setting >= 0 && setting < label) ? setting : label;
    if (first >= 0)
        return refuse_twice(r, axis, v->at, &axis->value[first]);
    append_value(r, axis, new);
    return true;
}

bool settings_check(struct reading *r, const struct value *set, const char *what)
{
    if (set->kind != VALUE_MAP)
        return mistake(r->err, set->at, "%s must be a map of settings such as train.lr: 1e-3",
                       what);
    for (int i = 0; i < set->n; i++) {
        if (!setting_check(set->key[i], set->key_at[i], 0, NULL, r->a, r->err))
            return false;
    }
    return true;
}

static bool append_labelled(struct reading *r, struct axis *axis, const char *label,
                            struct place at, struct value *set)
{
    const char *what = arena_printf(r->a, "'%s' of axis '%s'", label, axis->key);
    if (!settings_check(r, set, what))
        return false;
    int same = text_index_find(&axis->by_setting, json_to_text(set, JSON_CANONICAL, r->a));
    if (same >= 0)
        return mistake(r->err, at, "'%s' and '%s' of axis '%s' are the same settings",
                       axis->value[same].label, label, axis->key);
    append_value(r, axis, (struct axis_value){arena_strdup(r->a, label), set});
    return true;
}

/* ---- one axis ---- */

static bool is_plain_name(const char *key)
{
    return key[0] != '-' && key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-")] == '\0';
}

static bool check_labelled(struct reading *r, const struct axis *axis, const struct value *v)
{
    if (v->kind != VALUE_MAP && strcmp(axis->key, "seed") != 0) {
        if (strcmp(axis->key, "scheme") == 0 || strcmp(axis->key, "combine") == 0)
            return mistake(r->err, axis->at, "unknown axis '%s'; did you mean 'position.%s'?",
                           axis->key, axis->key);
        return mistake(r->err, axis->at,
                       "axis '%s' has no dot, so it must be a map: label -> settings", axis->key);
    }
    if (names_find(taken_names, axis->key) >= 0 || names_find(experiment_keys, axis->key) >= 0)
        return mistake(r->err, axis->at, "'%s' cannot be the name of an axis%s", axis->key,
                       strcmp(axis->key, "seed") == 0 || strcmp(axis->key, "seeds") == 0
                           ? "; seeds are a key of their own at the top level"
                           : "");
    if (!is_plain_name(axis->key))
        return mistake(r->err, axis->at,
                       "an axis is named with letters, digits, '_' and '-', not '%s'", axis->key);
    return true;
}

static bool empty_axis(struct reading *r, const struct axis *axis, struct place at)
{
    return mistake(r->err, at, "axis '%s' has no values", axis->key);
}

static bool read_labelled(struct reading *r, struct axis *axis, const struct value *v)
{
    bool ok = check_labelled(r, axis, v);
    if (ok && v->n == 0)
        return empty_axis(r, axis, v->at);
    for (int i = 0; ok && i < v->n; i++)
        ok = append_labelled(r, axis, v->key[i], v->key_at[i], v->item[i]);
    return ok;
}

static bool read_plain(struct reading *r, struct axis *axis, const struct value *v)
{
    if (!setting_check(axis->key, axis->at, 0, NULL, r->a, r->err))
        return false;
    if (v->kind != VALUE_LIST)
        return mistake(r->err, v->at, "axis '%s' must be a list of values%s", axis->key,
                       v->kind == VALUE_MAP
                           ? "; to give labels, choose an axis name that is not a setting"
                           : "");
    if (v->n == 0)
        return empty_axis(r, axis, v->at);
    for (int i = 0; i < v->n; i++)
        if (!axis_append(r, axis, v->item[i]))
            return false;
    return true;
}

/* ---- narrowing by the command line ---- */

const char *name_hint(struct arena *a, const char *wanted, const char *const *name, int n,
                      const char *there_are)
{
    const char *near = nearest_name(wanted, name, n);
    const char *list = NULL;
    if (near)
        return arena_printf(a, "did you mean '%s'?", near);
    for (int i = 0; i < n; i++)
        list = arena_item(a, list, "%s", name[i]);
    return arena_printf(a, "%s: %s", there_are, list ? list : "none");
}

bool unknown_label(struct reading *r, const struct axis *axis, const struct value *v)
{
    const char *label = label_of(r, v);
    const char **name = ARENA_ARRAY(r->a, axis->n_known, const char *);
    for (int i = 0; i < axis->n_known; i++)
        name[i] = axis->value[i].label;
    return mistake(r->err, v->at, "axis '%s' has no value '%s'; %s", axis->key, label,
                   name_hint(r->a, label, name, axis->n_known, "it has"));
}

int value_find(struct reading *r, const struct axis *axis, const struct value *v)
{
    const char *label = label_of(r, v);
    int found = label_find(axis, label);
    if (found < 0 && !axis->labelled)
        found = text_index_find(&axis->by_setting, setting_text(r, v));
    return found < 0 ? text_index_find(&axis->by_other_name, label) : found;
}

/* One value that the command line asks for; for a labelled axis, a value of the file. */
static bool narrow_to(struct reading *r, const struct axis *old, struct axis *axis, struct value *v)
{
    if (!axis->labelled)
        return axis_append(r, axis, v);
    int found = value_find(r, old, v);
    if (found < 0)
        return unknown_label(r, old, v);
    if (label_find(axis, old->value[found].label) >= 0)
        return refuse_twice(r, axis, v->at, &old->value[found]);
    append_value(r, axis, old->value[found]);
    return true;
}

static bool narrow_to_all(struct reading *r, struct axis *axis, struct value *v, struct place at)
{
    struct axis old = *axis;
    int n = value_count(v);
    if (n == 0)
        return empty_axis(r, axis, at);
    *axis = (struct axis){.key = old.key, .at = at, .labelled = old.labelled};
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = narrow_to(r, &old, axis, value_item(v, i));
    axis->n = axis->n_known;
    for (int i = 0; ok && i < old.n_known; i++)
        if (label_find(axis, old.value[i].label) < 0)
            append_value(r, axis, old.value[i]);
    return ok;
}

/* Replaces labels of matrix.only by their values. */
static bool only_values(struct reading *r, const struct axis *axis, const struct value *v,
                        struct value **values)
{
    *values = value_list(r->a, v->at);
    for (int i = 0; i < value_count(v); i++) {
        struct value *one = value_item(v, i);
        int found = value_find(r, axis, one);
        if (found < 0)
            return unknown_label(r, axis, one);
        if (!axis->labelled) {
            struct json named = {r->a, value_map(r->a, one->at)};
            json_put_text(named, "label", axis->value[found].label);
            json_put(named, "value", axis->value[found].set->item[0]);
            one = named.v;
        }
        value_append(r->a, *values, one);
    }
    return true;
}

/* A word that names the axis replaces its values, and matrix.only chooses among them. The file's
 * values stay known, because other parts of the file may name them. */
static bool narrow(struct reading *r, struct axis *axis)
{
    struct word *w = word_find(r, axis->key);
    const struct value *only = value_get(value_get_path(r->root, "matrix.only"), axis->key);
    struct value *values;
    if (w) {
        w->used = true;
        return narrow_to_all(r, axis, w->value, w->at);
    }
    if (!only)
        return true;
    return only_values(r, axis, only, &values) && narrow_to_all(r, axis, values, only->at);
}

bool axis_read(struct reading *r, struct axis *axis, const struct value *v)
{
    axis->labelled = !strchr(axis->key, '.') && !setting_is_section(axis->key);
    bool ok = axis->labelled ? read_labelled(r, axis, v) : read_plain(r, axis, v);
    axis->n = axis->n_known;
    ok = ok && narrow(r, axis);
    axis->n_file = axis->n_known;
    return ok;
}
