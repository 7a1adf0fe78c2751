/* SPDX-License-Identifier: MIT */
/* points.c: the product of the axes without `exclude`, plus the cells of `include`. */

#include "cell/setting.h"
#include "experiment/contrast.h"
#include "reading.h"

struct points {
    const struct experiment *e;
    struct arena *a;
    struct error *err;
    struct value *base; /* built-in settings under the defaults */
    int n;
    struct point *point;
};

/* ---- matching ---- */

bool point_matches(const struct experiment *e, const struct point *point, const struct value *when)
{
    for (int i = 0; i < when->n; i++)
        if (!axis_label_is(when->key[i], point->label[axis_find(e, when->key[i])], when->item[i]))
            return false;
    return true;
}

bool labels_alike(int n, const char *const *x, const char *const *y, const bool *on, bool in)
{
    for (int i = 0; i < n; i++)
        if ((!on || on[i] == in) && strcmp(x[i], y[i]) != 0)
            return false;
    return true;
}

static bool is_excluded(const struct experiment *e, const struct point *point)
{
    for (int i = 0; e->exclude && i < e->exclude->n; i++)
        if (point_matches(e, point, e->exclude->item[i]))
            return true;
    return false;
}

/* ---- settings of one point ---- */

static bool apply(struct points *p, struct value **tree, const struct value *set)
{
    bool ok = true;
    for (int i = 0; ok && i < set->n; i++)
        ok = setting_apply(tree, set->key[i], set->key_at[i], set->item[i], p->a, p->err);
    return ok;
}

static const struct value *axis_setting(const struct axis *axis, const char *label)
{
    int found = label_find(axis, label);
    BUG_UNLESS(found >= 0);
    return axis->value[found].set;
}

/* Later settings win: axes, then a cell of include's own keys, overrides, the command line. */
static bool merge(struct points *p, struct point *point, const struct value *extra)
{
    const struct experiment *e = p->e;
    bool ok = true;
    point->tree = p->base;
    for (int i = 0; ok && i < e->n_axis; i++)
        ok = apply(p, &point->tree, axis_setting(&e->axis[i], point->label[i]));
    for (int i = 0; ok && extra && i < extra->n; i++)
        if (axis_find(e, extra->key[i]) < 0)
            ok = setting_apply(&point->tree, extra->key[i], extra->key_at[i], extra->item[i], p->a,
                               p->err);
    for (int i = 0; ok && i < e->n_override; i++)
        if (!e->override[i].when || point_matches(e, point, e->override[i].when))
            ok = apply(p, &point->tree, e->override[i].set);
    return ok && apply(p, &point->tree, e->command_line);
}

/* ---- the product ---- */

static bool count(const struct experiment *e, int64_t *n, struct error *err)
{
    int64_t cells = 1;
    bool overflow = false;
    for (int i = 0; i < e->n_axis; i++)
        overflow = overflow || __builtin_mul_overflow(cells, (int64_t)e->axis[i].n, &cells);
    int64_t points = cells + (e->include ? e->include->n : 0);
    overflow = overflow || __builtin_mul_overflow(points, (int64_t)e->n_seed, &cells);
    if (overflow)
        return mistake(err, e->matrix_at, "the grid has more cells than can be counted");
    if (cells > EXPERIMENT_MAX_CELLS)
        return mistake(err, e->matrix_at,
                       "the grid has %" PRId64 " cells (%" PRId64
                       " for each of %d seed%s), more than %d",
                       cells, points, e->n_seed, plural(e->n_seed), EXPERIMENT_MAX_CELLS);
    *n = points;
    return true;
}

static bool add_product(struct points *p)
{
    const struct experiment *e = p->e;
    int digit[EXPERIMENT_MAX_AXES] = {0};
    for (;;) {
        struct point *point = &p->point[p->n];
        for (int i = 0; i < e->n_axis; i++)
            point->label[i] = e->axis[i].value[digit[i]].label;
        if (!is_excluded(e, point)) {
            if (!merge(p, point, NULL))
                return false;
            p->n++;
        }
        int i = e->n_axis - 1;
        while (i >= 0 && ++digit[i] == e->axis[i].n)
            digit[i--] = 0;
        if (i < 0)
            return true;
    }
}

/* ---- include ---- */

/* "S" and {model.n_layer: 8} -> "S(n_layer=8)". */
static const char *label_with(struct points *p, const char *label, const struct value *cell)
{
    struct strbuf out = STRBUF_NEW;
    const char *between = "(";
    strbuf_add(&out, label);
    for (int i = 0; i < cell->n; i++) {
        if (axis_find(p->e, cell->key[i]) >= 0)
            continue;
        strbuf_addf(&out, "%s%s=%s", between, key_name(cell->key[i]),
                    value_label(p->a, &p->e->names, cell->item[i]));
        between = ",";
    }
    strbuf_add(&out, *between == ',' ? ")" : "");
    return strbuf_keep(&out, p->a);
}

static bool add_included(struct points *p, const struct value *cell)
{
    const struct experiment *e = p->e;
    struct point *point = &p->point[p->n];
    for (int i = 0; i < e->n_axis; i++)
        point->label[i] = value_get(cell, e->axis[i].key)->text;
    if (!merge(p, point, cell))
        return false;
    point->label[e->n_axis - 1] = label_with(p, point->label[e->n_axis - 1], cell);
    for (int i = 0; i < p->n; i++)
        if (labels_alike(e->n_axis, point->label, p->point[i].label, NULL, true))
            return mistake(p->err, cell->at, "this cell of include is in the grid already");
    p->n++;
    return true;
}

/* Sets eval.test in files of version 2 that do not set it. */
#define TEST_PART 0.5

static struct value *built_in(const struct experiment *e, struct arena *a)
{
    struct place at = e->defaults_at;
    struct value *position = value_map(a, at), *tree = value_map(a, at);
    value_set(a, position, "scheme", at, value_text(a, at, "none"));
    value_set(a, position, "combine", at, value_text(a, at, setting_combine));
    value_set(a, tree, "position", at, position);
    if (e->version >= 2) {
        struct value *eval = value_map(a, at);
        value_set(a, eval, "test", at, value_real(a, at, TEST_PART));
        value_set(a, tree, "eval", at, eval);
    }
    return tree;
}

peat_status experiment_points(const struct experiment *e, struct point **point, int *n,
                              struct error *err)
{
    struct error own = {0};
    struct points p = {.e = e, .a = e->arena, .err = err ? err : &own};
    int64_t room = 0;
    if (!count(e, &room, p.err))
        return p.err->status;
    p.point = ARENA_ARRAY(p.a, room + 1, struct point);
    p.base = value_merge(p.a, built_in(e, p.a), e->defaults);
    bool ok = add_product(&p);
    for (int i = 0; ok && e->include && i < e->include->n; i++)
        ok = add_included(&p, e->include->item[i]);
    if (ok && p.n == 0)
        ok = mistake(p.err, e->exclude->at, "'exclude' removes every cell of the grid");
    if (!ok)
        return p.err->status;
    *point = p.point;
    *n = p.n;
    return PEAT_OK;
}
