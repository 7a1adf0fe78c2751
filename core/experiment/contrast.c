/* SPDX-License-Identifier: MIT */
/* contrast.c: checks contrasts, and finds the rows that they compare. */
#include "experiment/contrast.h"

#include "cell/setting.h"
#include "reading.h"

/* ---- from the file ---- */

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

/* ---- the normal form ---- */

int labelled_axis(const struct labelled *rows, const char *key)
{
    return key ? texts_find(rows->axis, rows->n_axis, key) : -1;
}

static peat_status no_contrast(const struct contrast *c, struct error *err)
{
    return error_set(err, PEAT_CORRUPT, "contrast '%s' does not fit the axes of the plan",
                     c->name ? c->name : "");
}

static bool contrast_fits(const struct value *map, const struct labelled *rows)
{
    bool known = map && map->kind == VALUE_MAP;
    for (int i = 0; known && i < map->n; i++)
        known = labelled_axis(rows, map->key[i]) >= 0;
    return known;
}

static bool read_factor(struct contrast *c, const struct value *v, const struct labelled *rows)
{
    const struct value *axis;
    bool sound = json_get_count(v, "of") == 2;
    c->factor = labelled_axis(rows, json_get_text(v, "factor"));
    for (int i = 0; sound && i < 2; i++) {
        c->label[i] = json_get_item(v, "of", i)->text;
        sound = c->label[i] != NULL;
    }
    for (int i = 0; sound && (axis = json_get_item(v, "over", i)); i++) {
        int k = labelled_axis(rows, axis->text);
        sound = k >= 0;
        c->over[sound ? k : 0] = k != c->factor;
    }
    return sound && c->factor >= 0;
}

peat_status contrast_from_value(struct contrast *c, const struct value *v,
                                const struct labelled *rows, struct error *err)
{
    *c = (struct contrast){.name = json_get_text(v, "name"),
                           .at = v->at,
                           .factor = -1,
                           .side = value_get(v, "rows"),
                           .where = value_get(v, "where"),
                           .metric = json_get_text(v, "metric"),
                           .length = json_get_int(v, "length", -1)};
    if (c->where && !contrast_fits(c->where, rows))
        return no_contrast(c, err);
    if (!c->side)
        return read_factor(c, v, rows) ? PEAT_OK : no_contrast(c, err);
    bool sound = json_get_count(v, "rows") == 2 && contrast_fits(c->side->item[0], rows) &&
                 contrast_fits(c->side->item[1], rows);
    return sound ? PEAT_OK : no_contrast(c, err);
}

/* ---- labels ---- */

static bool is_nothing(const char *label)
{
    return strcmp(label, "-") == 0;
}

bool axis_labels_agree(const char *axis, const char *x, const char *y)
{
    bool combine = setting_is_below(axis, "position.combine");
    return strcmp(x, y) == 0 || (combine && (is_nothing(x) || is_nothing(y)));
}

bool axis_label_is(const char *axis, const char *label, const struct value *wanted)
{
    for (int i = 0; i < value_count(wanted); i++) {
        const char *one = value_item(wanted, i)->text;
        if (one && axis_labels_agree(axis, label, one))
            return true;
    }
    return false;
}

bool labels_match(const struct labelled *rows, int row, const struct value *map)
{
    for (int i = 0; map && i < map->n; i++) {
        int axis = labelled_axis(rows, map->key[i]);
        if (axis < 0 || !axis_label_is(map->key[i], rows->label[row][axis], map->item[i]))
            return false;
    }
    return true;
}

/* ---- pairs ---- */

struct matching {
    const struct contrast *c;
    const struct labelled *rows;
    struct contrast_pairs *out;
    bool *used; /* rows that are in a pair */
};

/* Whether rows agree on all axes but the factor. exactly: "-" matches only "-". */
static bool agrees(const struct matching *m, int x, int y, bool exactly)
{
    const char *const *p = m->rows->label[x], *const *q = m->rows->label[y];
    for (int k = 0; k < m->rows->n_axis; k++)
        if (k != m->c->factor &&
            (exactly ? strcmp(p[k], q[k]) != 0 : !axis_labels_agree(m->rows->axis[k], p[k], q[k])))
            return false;
    return true;
}

static bool has_factor(const struct matching *m, int row, const char *label)
{
    return strcmp(m->rows->label[row][m->c->factor], label) == 0 &&
           labels_match(m->rows, row, m->c->where);
}

/* The one row of this side that pairs with `row`, an exact match first; -1: none, or several. */
static int counterpart(const struct matching *m, int row, int side)
{
    int found = -1, n = 0;
    for (int i = 0; i < m->rows->n_row; i++)
        if (has_factor(m, i, m->c->label[side]) && agrees(m, row, i, true))
            return i;
    for (int i = 0; i < m->rows->n_row; i++)
        if (has_factor(m, i, m->c->label[side]) && agrees(m, row, i, false)) {
            found = i;
            n++;
        }
    return n == 1 ? found : -1;
}

static void add_pair(const struct matching *m, int a, int b)
{
    struct contrast_pairs *out = m->out;
    for (int i = 0; i < out->n; i++)
        if (out->pair[i].a == a && out->pair[i].b == b)
            return;
    struct contrast_pair *pair = &out->pair[out->n++];
    *pair = (struct contrast_pair){.a = a, .b = b};
    for (int k = 0; k < m->rows->n_axis; k++) {
        const char *x = m->rows->label[a][k], *y = m->rows->label[b][k];
        pair->label[k] = k == m->c->factor ? NULL : is_nothing(x) ? y : x;
    }
    m->used[a] = m->used[b] = true;
}

static void pair_by_factor(const struct matching *m)
{
    for (int i = 0; i < m->rows->n_row; i++)
        for (int side = 0; side < 2; side++) {
            int other = has_factor(m, i, m->c->label[side]) ? counterpart(m, i, 1 - side) : -1;
            if (other >= 0)
                add_pair(m, side ? other : i, side ? i : other);
        }
}

/* Each of the two sides must match one row. */
static void pair_rows(const struct matching *m)
{
    int row[2] = {-1, -1}, n[2] = {0, 0};
    for (int i = 0; i < m->rows->n_row; i++)
        for (int side = 0; side < 2; side++)
            if (labels_match(m->rows, i, m->c->side->item[side])) {
                row[side] = i;
                n[side]++;
            }
    if (n[0] == 1 && n[1] == 1 && row[0] != row[1])
        add_pair(m, row[0], row[1]);
}

static void list_alone(const struct matching *m)
{
    struct contrast_pairs *out = m->out;
    for (int i = 0; i < m->rows->n_row; i++) {
        const char *label = m->rows->label[i][m->c->factor];
        bool same_model = is_nothing(label) && labels_match(m->rows, i, m->c->where);
        bool side = has_factor(m, i, m->c->label[0]) || has_factor(m, i, m->c->label[1]);
        if (same_model || (side && !m->used[i]))
            out->alone[out->n_alone++] = (struct contrast_alone){i, same_model};
    }
}

void contrast_pairs_find(const struct contrast *c, const struct labelled *rows, struct arena *a,
                         struct contrast_pairs *out)
{
    struct matching m = {c, rows, out, ARENA_ARRAY(a, rows->n_row, bool)};
    *out = (struct contrast_pairs){.pair = ARENA_ARRAY(a, 2 * rows->n_row, struct contrast_pair),
                                   .alone = ARENA_ARRAY(a, rows->n_row, struct contrast_alone)};
    if (c->factor < 0) {
        pair_rows(&m);
    } else {
        pair_by_factor(&m);
        list_alone(&m);
    }
}
