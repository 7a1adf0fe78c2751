/* SPDX-License-Identifier: MIT */
/* contrast.c: finds the rows that a contrast compares. */
#include "experiment/contrast.h"

#include "cell/setting.h"

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

static bool fits(const struct value *map, const struct labelled *rows)
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
    if (c->where && !fits(c->where, rows))
        return no_contrast(c, err);
    if (!c->side)
        return read_factor(c, v, rows) ? PEAT_OK : no_contrast(c, err);
    bool sound = json_get_count(v, "rows") == 2 && fits(c->side->item[0], rows) &&
                 fits(c->side->item[1], rows);
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
