/* SPDX-License-Identifier: MIT */
/* planjson.c: the plan and its cells as the run directory keeps them. */
#include <string.h>

#include "experiment/plan.h"

#define FORMAT 1

static const struct place nowhere = {NULL, 0, 0};

/* A map under construction. */
struct maker {
    struct arena *a;
    struct value *map;
};

static void put(struct maker *m, const char *key, struct value *v)
{
    value_set(m->a, m->map, key, nowhere, v ? v : value_null(m->a, nowhere));
}

static void put_text(struct maker *m, const char *key, const char *text)
{
    put(m, key, text ? value_text(m->a, nowhere, text) : NULL);
}

static void put_int(struct maker *m, const char *key, int64_t x)
{
    put(m, key, value_int(m->a, nowhere, x));
}

static void put_real(struct maker *m, const char *key, double x)
{
    put(m, key, value_real(m->a, nowhere, x));
}

static struct maker make(struct arena *a)
{
    return (struct maker){a, value_map(a, nowhere)};
}

static struct value *axes_value(const struct plan *p, const struct plan_cell *c, struct arena *a)
{
    struct maker m = make(a);
    for (int i = 0; i < p->experiment->n_axis; i++)
        put_text(&m, p->experiment->axis[i].key, c->axis[i]);
    return m.map;
}

/* ---- plan.json ---- */

static bool has_text(const struct value *list, const char *text)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->item[i]->text, text) == 0)
            return true;
    return false;
}

static bool is_used(const struct plan *p, int axis, const char *label)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->cell[i].axis[axis], label) == 0)
            return true;
    return false;
}

/* Labels that cells have: first as the file orders them, then those that come from elsewhere. */
static struct value *labels_value(const struct plan *p, int axis, struct arena *a)
{
    const struct axis *x = &p->experiment->axis[axis];
    struct value *list = value_list(a, nowhere);
    for (int i = 0; i < x->n_known; i++)
        if (is_used(p, axis, x->value[i].label))
            value_append(a, list, value_text(a, nowhere, x->value[i].label));
    for (int i = 0; i < p->n; i++)
        if (!has_text(list, p->cell[i].axis[axis]))
            value_append(a, list, value_text(a, nowhere, p->cell[i].axis[axis]));
    return list;
}

static struct value *all_axes_value(const struct plan *p, struct arena *a)
{
    struct value *list = value_list(a, nowhere);
    for (int i = 0; i < p->experiment->n_axis; i++) {
        struct maker m = make(a);
        put_text(&m, "key", p->experiment->axis[i].key);
        put(&m, "labels", labels_value(p, i, a));
        value_append(a, list, m.map);
    }
    return list;
}

static struct value *report_value(const struct report_settings *r, struct arena *a)
{
    static const char *const goal[] = {"metric", "min", "max"};
    struct maker m = make(a);
    put_text(&m, "metric", r->metric);
    put_text(&m, "goal", goal[r->goal]);
    put(&m, "baseline", r->baseline);
    put_text(&m, "at", "final");
    return m.map;
}

static struct value *skipped_value(const struct plan *p, struct arena *a)
{
    struct value *list = value_list(a, nowhere);
    for (int i = 0; i < p->n_skipped; i++) {
        struct maker m = make(a);
        put_text(&m, "label", p->skipped[i].label);
        put_text(&m, "reason", p->skipped[i].reason);
        value_append(a, list, m.map);
    }
    return list;
}

static struct value *row_value(const struct plan *p, const struct plan_cell *c, struct arena *a)
{
    struct maker m = make(a);
    put_int(&m, "index", c->index);
    put_text(&m, "id", c->id);
    put_text(&m, "label", c->label);
    put(&m, "axes", axes_value(p, c, a));
    put_text(&m, "scheme", c->scheme);
    put_text(&m, "combine", c->combine);
    put_text(&m, "task", c->task);
    put_int(&m, "seed", c->seed);
    put_text(&m, "hash", c->config.hash);
    put_text(&m, "setting", c->config.setting);
    put_int(&m, "params", c->params);
    put_int(&m, "params_positional", c->params_positional);
    put_real(&m, "flops_per_token", c->flops_per_token);
    put_int(&m, "activation_bytes", c->activation_bytes);
    put_text(&m, "attention_path", c->attention_path);
    put_text(&m, "injection", c->injection);
    put_text(&m, "matched", c->matched);
    put(&m, "baseline", c->baseline < 0 ? NULL : value_int(a, nowhere, c->baseline));
    return m.map;
}

struct value *plan_value(const struct plan *p, struct arena *a)
{
    const struct experiment *e = p->experiment;
    struct maker m = make(a);
    struct value *seeds = value_list(a, nowhere), *cells = value_list(a, nowhere),
                 *dropped = value_list(a, nowhere);
    for (int i = 0; i < e->n_seed; i++)
        value_append(a, seeds, value_int(a, nowhere, e->seed[i]));
    for (int i = 0; i < p->n; i++)
        value_append(a, cells, row_value(p, &p->cell[i], a));
    for (int i = 0; i < p->n_dropped; i++)
        value_append(a, dropped, value_text(a, nowhere, p->dropped[i]));
    put_int(&m, "format", FORMAT);
    put_text(&m, "experiment", e->name);
    put_text(&m, "description", e->description);
    put(&m, "axes", all_axes_value(p, a));
    put(&m, "seeds", seeds);
    put(&m, "report", report_value(&e->report, a));
    put(&m, "cells", cells);
    put(&m, "dropped", dropped);
    put(&m, "skipped", skipped_value(p, a));
    return m.map;
}

/* ---- config.json ---- */

struct value *plan_cell_value(const struct plan *p, const struct plan_cell *c, struct arena *a)
{
    struct maker m = make(a);
    put_int(&m, "format", FORMAT);
    put_text(&m, "experiment", p->experiment->name);
    put_int(&m, "index", c->index);
    put_text(&m, "id", c->id);
    put_text(&m, "label", c->label);
    put(&m, "axes", axes_value(p, c, a));
    put_text(&m, "scheme", c->scheme);
    put_text(&m, "combine", c->combine);
    put_text(&m, "hash", c->config.hash);
    put_text(&m, "setting", c->config.setting);
    m.map = value_merge(a, m.map, c->config.resolved);
    put_int(&m, "params", c->params);
    put_int(&m, "params_positional", c->params_positional);
    put_real(&m, "flops_per_token", c->flops_per_token);
    put_text(&m, "attention_path", c->attention_path);
    put_text(&m, "injection", c->injection);
    return m.map;
}
