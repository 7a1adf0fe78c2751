/* SPDX-License-Identifier: MIT */
/* rows.c: makes the rows of a plan from the points of its grid. */

#include "cell/setting.h"
#include "experiment/contrast.h"
#include "planning.h"

/* ---- labels ---- */

/* A labelled axis counts if one of its settings does. */
static bool axis_is_below(const struct axis *axis, const char *key)
{
    for (int i = 0; i < axis->n_known; i++)
        for (int j = 0; j < axis->value[i].set->n; j++)
            if (setting_is_below(axis->value[i].set->key[j], key) ||
                setting_is_below(key, axis->value[i].set->key[j]))
                return true;
    return false;
}

static bool position_varies(const struct experiment *e)
{
    for (int i = 0; i < e->n_axis; i++)
        if (axis_is_below(&e->axis[i], "position"))
            return true;
    return false;
}

static const char *axis_label(const struct planning *p, const struct plan_row *row, const char *key)
{
    int axis = axis_find(p->e, key);
    return axis < 0 ? NULL : row->point.label[axis];
}

static const char *setting_label(const struct planning *p, const struct plan_row *row,
                                 const char *key)
{
    const char *label = axis_label(p, row, key);
    return label ? label : value_label(p->a, &p->e->names, value_get_path(row->point.tree, key));
}

static bool is_named_axis(const struct axis *axis)
{
    return strcmp(axis->key, "position.scheme") == 0 || strcmp(axis->key, "position.combine") == 0;
}

/* True where labels of an axis stand for settings of the position. */
static bool position_has_labels(const struct experiment *e)
{
    for (int i = 0; i < e->n_axis; i++)
        if (e->axis[i].labelled && axis_is_below(&e->axis[i], "position"))
            return true;
    return false;
}

/* True where scheme or combination are written with the label of this axis: "rotary(base=500)". */
static bool is_written(const struct planning *p, const struct plan_row *row, int axis)
{
    const char *text =
        arena_printf(p->a, "%s=%s", key_name(p->e->axis[axis].key), row->point.label[axis]);
    return strstr(row->cell.scheme, text) || strstr(row->cell.combine, text) ||
           (strcmp(row->point.label[axis], "-") == 0 && strcmp(row->cell.combine, "-") == 0);
}

const char *row_name(const struct planning *p, const struct plan_row *row, bool whole, int64_t seed)
{
    const char *part[EXPERIMENT_MAX_AXES + 2];
    int n = 0;
    bool told = !whole && position_has_labels(p->e);
    if (!told || axis_find(p->e, "position.scheme") >= 0)
        part[n++] = row->cell.scheme;
    if (!told || axis_find(p->e, "position.combine") >= 0)
        part[n++] = row->cell.combine;
    for (int i = 0; i < p->e->n_axis; i++)
        if (!is_named_axis(&p->e->axis[i]) && (whole || told || !is_written(p, row, i)))
            part[n++] = row->point.label[i];
    return cell_label(p->a, n, part, seed);
}

/* The config of a refused row may be incomplete. */
static void set_labels(struct planning *p, struct plan_row *row)
{
    struct plan_cell *cell = &row->cell;
    bool combined = row->refused ? value_get_path(row->point.tree, "position.combine") != NULL
                                 : cell->config.has_combine;
    memcpy(cell->axis, row->point.label, sizeof(cell->axis));
    cell->scheme = setting_label(p, row, "position.scheme");
    cell->combine = combined ? setting_label(p, row, "position.combine") : "-";
    if (row->refused)
        return;
    const char *task = axis_label(p, row, "task");
    cell->task = task ? task : cell->config.task.plugin->desc->id;
    cell->label = row_name(p, row, false, p->e->seed[0]);
}

/* Whether both have equal labels on every axis except those of `except`. */
static bool rows_equal(const struct planning *p, const struct plan_row *row,
                       const struct plan_row *other, const struct value *except)
{
    for (int i = 0; i < p->e->n_axis; i++) {
        const char *key = p->e->axis[i].key;
        if (!value_get(except, key) &&
            !axis_labels_agree(key, row->point.label[i], other->point.label[i]))
            return false;
    }
    return true;
}

const struct plan_row *row_find(const struct planning *p, const struct plan_row *from,
                                const struct value *map, const struct plan_row *row,
                                const struct value *except)
{
    for (; from < p->row + p->n; from++)
        if (point_matches(p->e, &from->point, map) && rows_equal(p, row, from, except))
            return from;
    return NULL;
}

/* ---- schemes without a stream ---- */

static bool refuse_combine(struct planning *p, const struct plan_row *row)
{
    const struct cell_config *c = &row->cell.config;
    bool one = c->n_scheme == 1;
    return mistake(p->err, c->combine.at,
                   "scheme%s '%s' give%s no stream, so combine '%s' has nothing to merge; use "
                   "sum or another scheme",
                   one ? "" : "s", setting_label(p, row, "position.scheme"), one ? "s" : "",
                   c->combine.plugin->desc->id);
}

/* Lists the point's combine under its scheme. */
static void note_drop(struct planning *p, struct value *drops, const struct plan_row *row)
{
    const char *scheme = setting_label(p, row, "position.scheme");
    const struct value *combine = value_get_path(row->point.tree, "position.combine");
    struct value *label = value_text(p->a, combine->at, value_label(p->a, &p->e->names, combine));
    struct value *list = value_get(drops, scheme);
    if (!list) {
        list = value_list(p->a, combine->at);
        value_set(p->a, drops, scheme, combine->at, list);
    }
    if (!value_holds(list, label))
        value_append(p->a, list, label);
}

static void list_drops(struct planning *p, const struct value *drops)
{
    struct json dropped = json_list(p->a);
    for (int i = 0; i < drops->n; i++) {
        struct strbuf line = STRBUF_NEW;
        strbuf_addf(&line, "%s x ", drops->key[i]);
        for (int j = 0; j < drops->item[i]->n; j++)
            strbuf_addf(&line, "%s%s", j ? ", " : "", drops->item[i]->item[j]->text);
        strbuf_add(&line, ": nothing to merge");
        json_add_text(dropped, strbuf_keep(&line, p->a));
    }
    p->plan->dropped = dropped.v;
}

/* Labels the row's combine "-". *kept: whether no earlier row has the same labels. */
static bool drop_combine(struct planning *p, struct plan_row *row, bool *kept)
{
    const struct experiment *e = p->e;
    bool by_default = strcmp(row->cell.config.combine.plugin->desc->id, setting_combine) == 0;
    *kept = true;
    if (!by_default && !position_varies(e))
        return refuse_combine(p, row);
    for (int i = 0; i < e->n_axis; i++)
        if (setting_is_below(e->axis[i].key, "position.combine"))
            row->point.label[i] = "-";
    for (int i = 0; *kept && i < p->n; i++)
        *kept = !labels_alike(e->n_axis, p->row[i].point.label, row->point.label, NULL, true);
    return true;
}

/* ---- rows ---- */

bool row_config(struct planning *p, struct plan_row *row, bool *dropped)
{
    return cell_config_read(&row->cell.config, row->point.tree, p->e->seed[0], p->registry,
                            p->files, p->a, dropped, p->err) == PEAT_OK;
}

bool row_skip(struct planning *p, struct plan_row *row, bool ok)
{
    if (ok || p->err->status != PEAT_REFUSED)
        return ok;
    row->refused = arena_strdup(p->a, p->err->text);
    return true;
}

static bool read_row(struct planning *p, const struct point *point, struct value *drops)
{
    struct plan_row *row = &p->row[p->n];
    bool dropped = false, kept = true;
    *row = (struct plan_row){.point = *point};
    if (!row_skip(p, row, row_config(p, row, &dropped)) ||
        (dropped && !drop_combine(p, row, &kept)))
        return false;
    if (!kept) {
        note_drop(p, drops, row);
        return true;
    }
    set_labels(p, row);
    p->n++;
    return true;
}

bool rows_read(struct planning *p, const struct point *point, int n)
{
    struct value *drops = value_map(p->a, p->e->matrix_at);
    bool ok = true;
    p->row = ARENA_ARRAY(p->a, n, struct plan_row);
    p->refused = ARENA_ARRAY(p->a, n, struct plan_row);
    for (int i = 0; ok && i < n; i++)
        ok = read_row(p, &point[i], drops);
    list_drops(p, drops);
    return ok;
}
