/* SPDX-License-Identifier: MIT */
/* contrasts.c: checks `report.contrasts` and the contrasts of claims, and puts them into their
 * normal form. */

#include "cell/setting.h"
#include "reading.h"

/* ---- axes and labels ---- */

bool comparison_axis(struct reading *r, const struct value *v, const char *what, int *axis)
{
    *axis = v->kind == VALUE_TEXT ? axis_find(r->e, v->text) : -1;
    if (*axis < 0)
        return unknown_axis(r, v->at, value_label(r->a, &r->e->names, v), what);
    if (r->e->chosen[*axis])
        return mistake(r->err, v->at,
                       "'%s' names '%s', whose value best_over chooses for each row: leave it out",
                       what, v->text);
    return true;
}

bool two_labels_read(struct reading *r, const struct axis *axis, const struct value *v,
                     const char *what, struct value *list)
{
    if (v->kind != VALUE_LIST || v->n != 2)
        return mistake(r->err, v->at, "'%s' must have two labels of '%s': [A, B] is about A - B",
                       what, axis->key);
    for (int i = 0; i < 2; i++) {
        int found = value_find(r, axis, v->item[i]);
        if (found < 0)
            return unknown_label(r, axis, v->item[i]);
        value_append(r->a, list, value_text(r->a, v->item[i]->at, axis->value[found].label));
    }
    if (strcmp(list->item[0]->text, list->item[1]->text) == 0)
        return mistake(r->err, v->at, "'%s' names '%s' twice", what, list->item[0]->text);
    return true;
}

/* ---- over and pool ---- */

enum role { FREE, FACTOR, OVER, POOL, CHOSEN };

static bool take_axis(struct reading *r, const struct value *v, enum role as, enum role *role)
{
    const char *const word = as == OVER ? "over" : "pool";
    int axis;
    if (!comparison_axis(r, v, word, &axis))
        return false;
    if (role[axis] != FREE)
        return mistake(r->err, v->at, "'%s' names '%s', which is %s already", word, v->text,
                       role[axis] == FACTOR ? "the factor"
                       : role[axis] == OVER ? "in 'over'"
                                            : "in 'pool'");
    role[axis] = as;
    return true;
}

static bool take_axes(struct reading *r, const struct value *v, enum role as, enum role *role)
{
    bool ok = true;
    for (int i = 0; v && ok && i < value_count(v); i++)
        ok = take_axis(r, value_item(v, i), as, role);
    return ok;
}

/* An axis that neither key names is pooled over if `over` is given, and otherwise shown. */
static bool read_roles(struct reading *r, const struct value *v, enum role *role)
{
    const struct value *over = value_get(v, "over"), *pool = value_get(v, "pool");
    bool ok = take_axes(r, over, OVER, role) && take_axes(r, pool, POOL, role);
    for (int i = 0; ok && i < r->e->n_axis; i++) {
        if (role[i] != FREE)
            continue;
        if (over && pool)
            return mistake(r->err, v->at, "axis '%s' is neither in 'over' nor in 'pool'",
                           r->e->axis[i].key);
        role[i] = over ? POOL : OVER;
    }
    return ok;
}

static void put_axes(struct reading *r, struct value *out, const char *key, const enum role *role,
                     enum role as)
{
    struct json list = json_put_list((struct json){r->a, out}, key);
    for (int i = 0; i < r->e->n_axis; i++)
        if (role[i] == as)
            json_add_text(list, r->e->axis[i].key);
}

/* ---- one contrast ---- */

static void copy_key(struct reading *r, struct value *out, const struct value *v, const char *key)
{
    if (value_get(v, key))
        value_set(r->a, out, key, value_key_place(v, key), value_get(v, key));
}

bool comparison_measure(struct reading *r, struct value *out, const struct value *v)
{
    const struct value *metric = value_get(v, "metric"), *length = value_get(v, "length");
    if (metric && (metric->kind != VALUE_TEXT || !metric->text[0]))
        return mistake(r->err, metric->at, "'metric' must name a metric");
    if (length && (length->kind != VALUE_INT || length->integer < 1))
        return mistake(r->err, length->at, "'length' must be a whole number of at least 1");
    copy_key(r, out, v, "metric");
    copy_key(r, out, v, "length");
    return true;
}

static bool read_parts(struct reading *r, const struct value *v, struct value *out)
{
    enum role role[EXPERIMENT_MAX_AXES] = {FREE};
    const struct value *factor = value_get(v, "factor"), *where = value_get(v, "where");
    const struct value *labels = value_get(v, "of");
    struct value *of = value_list(r->a, v->at), *map = NULL;
    int axis = -1;
    if (!factor)
        return mistake(r->err, v->at,
                       "a contrast needs 'factor': the axis whose labels it "
                       "compares");
    if (!comparison_axis(r, factor, "factor", &axis))
        return false;
    if (!labels)
        return mistake(r->err, v->at, "a contrast needs 'of': two labels of '%s'",
                       r->e->axis[axis].key);
    if (!two_labels_read(r, &r->e->axis[axis], labels, "of", of))
        return false;
    for (int i = 0; i < r->e->n_axis; i++)
        if (r->e->chosen[i])
            role[i] = CHOSEN;
    role[axis] = FACTOR;
    bool ok = read_roles(r, v, role);
    if (ok && where)
        ok = labels_resolve(r, where, "where", false, &map);
    if (!(ok && best_over_refuse(r, map, "where")))
        return false;
    json_put_text((struct json){r->a, out}, "factor", r->e->axis[axis].key);
    json_put((struct json){r->a, out}, "of", of);
    put_axes(r, out, "over", role, OVER);
    put_axes(r, out, "pool", role, POOL);
    if (map)
        value_set(r->a, out, "where", where->at, map);
    return true;
}

static const char *own_name(struct reading *r, const struct value *out)
{
    const struct value *of = value_get(out, "of");
    return arena_printf(r->a, "%s - %s", of->item[0]->text, of->item[1]->text);
}

bool contrast_normalise(struct reading *r, const struct value *v, struct value *out)
{
    static const char *const keys[] = {"name",  "factor", "of",     "over", "pool",
                                       "where", "metric", "length", NULL};
    if (!known_keys_only(v, "a contrast", keys, r->err))
        return false;
    const struct value *name = value_get(v, "name");
    if (name && (name->kind != VALUE_TEXT || !name->text[0]))
        return mistake(r->err, name->at, "'name' of a contrast must be a text");
    if (!read_parts(r, v, out))
        return false;
    json_put_text((struct json){r->a, out}, "name", name ? name->text : own_name(r, out));
    return comparison_measure(r, out, v);
}

/* ---- report.contrasts ---- */

const struct value *contrast_named(const struct value *contrasts, const char *name)
{
    for (int i = 0; contrasts && i < contrasts->n; i++)
        if (strcmp(value_get(contrasts->item[i], "name")->text, name) == 0)
            return contrasts->item[i];
    return NULL;
}

bool contrasts_read(struct reading *r, const struct value *v, struct value **contrasts)
{
    *contrasts = NULL;
    if (!v || v->kind == VALUE_NULL)
        return true;
    if (v->kind != VALUE_LIST)
        return mistake(r->err, v->at, "'contrasts' must be a list of {factor: AXIS, of: [A, B]}");
    *contrasts = value_list(r->a, v->at);
    for (int i = 0; i < v->n; i++) {
        struct value *one = value_map(r->a, v->item[i]->at);
        if (!contrast_normalise(r, v->item[i], one))
            return false;
        const char *name = value_get(one, "name")->text;
        if (contrast_named(*contrasts, name))
            return mistake(r->err, v->item[i]->at, "two contrasts are called '%s': give one a name",
                           name);
        value_append(r->a, *contrasts, one);
    }
    return true;
}
