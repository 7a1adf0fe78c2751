/* SPDX-License-Identifier: MIT */
/* best_over.c: checks `report.best_over` and puts it into its normal form. */
#include "experiment/best_over.h"

#include "plugin/params.h"
#include "reading.h"

bool best_over_has(const struct best_over *b, const char *axis)
{
    return texts_find(b->axis, b->n_axis, axis) >= 0;
}

bool best_over_spans(const struct best_over *b, const char *axis)
{
    return value_get(b->only, axis) != NULL;
}

bool best_over_fits(const struct best_over *b, const char *axis, const char *label)
{
    return !best_over_spans(b, axis) || json_text_is(b->only, axis, label);
}

const char *best_over_where(const struct best_over *b, struct arena *a)
{
    const char *text = "";
    for (int i = 0; b->only && i < b->only->n; i++)
        text = arena_item(a, text, "%s=%s", b->only->key[i], b->only->item[i]->text);
    return *text ? arena_printf(a, " at %s", text) : "";
}

bool best_over_keeps(const struct best_over *b, int64_t seed)
{
    return integers_hold(b->seed, b->n_seed, seed);
}

const char *best_over_axes(const struct best_over *b, struct arena *a)
{
    const char *text = "";
    for (int i = 0; i < b->n_axis; i++)
        text = arena_item(a, text, "%s", b->axis[i]);
    return text;
}

const char *best_over_seeds(const struct best_over *b, struct arena *a)
{
    const char *text = "";
    for (int i = 0; i < b->n_seed; i++)
        text = arena_item(a, text, "%" PRId64, b->seed[i]);
    return arena_printf(a, "seed%s %s", plural(b->n_seed), text);
}

/* ---- from the file ---- */

/* Axes and seeds are read separately. */
#define ROW(type, field, ...) PARAM_ROW(type, struct best_over, field, __VA_ARGS__)

enum { BY_SEEDS, BY_HALVES };
static const char *const by_labels[] = {"seeds", "halves", NULL};

static const peat_param rows[] = {
    ROW(PEAT_ENUM, halves, "by",
        "the part of each row that is kept for choosing: seeds, or a half of the validation data",
        .labels = by_labels),
    ROW(PEAT_STRING, metric, "metric",
        "metric by which values are chosen; not given: the report's metric"),
    ROW(PEAT_INT, length, "length", "evaluation length of the metric", .preset = -1,
        WITHIN(-1, 1e9)),
    PEAT_PARAM_END,
};

static bool add_axis(struct reading *r, const struct value *v, struct best_over *b)
{
    int axis = v->kind == VALUE_TEXT ? axis_find(r->e, v->text) : -1;
    if (axis < 0)
        return unknown_axis(r, v->at, value_label(r->a, &r->e->names, v), "best_over");
    if (best_over_has(b, v->text))
        return mistake(r->err, v->at, "best_over names '%s' twice", v->text);
    b->axis[b->n_axis++] = r->e->axis[axis].key;
    r->e->chosen[axis] = true;
    return true;
}

static bool read_axes(struct reading *r, const struct value *map, struct best_over *b)
{
    const struct value *v = value_get(map, "axes");
    if (!v || (v->kind == VALUE_LIST && v->n == 0))
        return mistake(r->err, v ? v->at : map->at,
                       "best_over needs 'axes': the axes whose best value is chosen for each row");
    bool ok = true;
    b->at = v->at;
    b->axis = ARENA_ARRAY(r->a, value_count(v), const char *);
    for (int i = 0; ok && i < value_count(v); i++)
        ok = add_axis(r, value_item(v, i), b);
    return ok;
}

static bool add_seed(struct reading *r, const struct value *v, struct best_over *b)
{
    if (v->kind != VALUE_INT)
        return mistake(r->err, v->at, "'choose' must be a list of seeds");
    if (!integers_hold(r->e->seed, r->e->n_seed, v->integer))
        return mistake(r->err, v->at, "seed %" PRId64 " of 'choose' is not one of 'seeds'",
                       v->integer);
    if (best_over_keeps(b, v->integer))
        return mistake(r->err, v->at, "seed %" PRId64 " is given twice", v->integer);
    b->seed[b->n_seed++] = v->integer;
    return true;
}

static bool read_choose(struct reading *r, const struct value *map, struct best_over *b)
{
    const struct value *v = value_get(map, "choose");
    if (!v || (v->kind == VALUE_LIST && v->n == 0))
        return mistake(r->err, v ? v->at : map->at,
                       "best_over needs 'choose': the seeds that are kept for choosing");
    bool ok = true;
    const struct place given = value_key_place(r->root, "seeds");
    bool by_word = given.file && strcmp(given.file, "command line") == 0;
    b->seed = ARENA_ARRAY(r->a, value_count(v), int64_t);
    for (int i = 0; ok && i < value_count(v); i++)
        ok = add_seed(r, value_item(v, i), b);
    if (ok && b->n_seed == r->e->n_seed)
        return mistake(r->err, by_word ? given : v->at,
                       "'choose' keeps every seed for choosing: none is left to report");
    return ok;
}

static bool read_only(struct reading *r, const struct value *map, struct best_over *b)
{
    const struct value *v = value_get(map, "at");
    struct value *labels = NULL;
    if (!v || v->kind == VALUE_NULL)
        return true;
    bool ok = labels_resolve(r, v, "at", true, &labels);
    for (int i = 0; ok && i < labels->n; i++)
        if (best_over_has(b, labels->key[i]))
            ok = mistake(r->err, v->at,
                         "'at' names '%s', whose value best_over chooses: leave it out",
                         labels->key[i]);
    b->only = labels;
    return ok;
}

bool best_over_read(struct reading *r, const struct value *v, struct best_over *b)
{
    static const char *const others[] = {"axes", "choose", "at", NULL};
    *b = (struct best_over){.length = -1};
    if (!v || v->kind == VALUE_NULL)
        return true;
    bool ok = params_fill(rows, b, v, "best_over", others, r->a, r->err) == PEAT_OK &&
              read_axes(r, v, b) && read_only(r, v, b);
    const struct value *choose = value_get(v, "choose");
    if (ok && b->halves && choose)
        ok = mistake(r->err, choose->at,
                     "'choose' names seeds, but by: halves chooses by data: leave 'choose' out");
    else if (ok && !b->halves)
        ok = read_choose(r, v, b);
    b->metric = b->metric && b->metric[0] ? b->metric : NULL;
    b->metric_at = value_get(v, "metric") ? value_get(v, "metric")->at : b->at;
    b->length_at = value_get(v, "length") ? value_get(v, "length")->at : b->at;
    return ok;
}

bool best_over_refuse(struct reading *r, const struct value *map, const char *what)
{
    for (int i = 0; map && i < map->n; i++)
        if (best_over_has(&r->e->report.best_over, map->key[i]))
            return mistake(
                r->err, map->key_at[i],
                "%s names '%s', whose value best_over chooses for each row: leave it out", what,
                map->key[i]);
    return true;
}

/* ---- its normal form ---- */

struct value *best_over_value(const struct best_over *b, struct arena *a)
{
    struct json m = json_map(a), axes = json_put_list(m, "axes");
    for (int i = 0; i < b->n_axis; i++)
        json_add_text(axes, b->axis[i]);
    json_put_text(m, "by", by_labels[b->halves]);
    struct json choose = b->halves ? m : json_put_list(m, "choose");
    for (int i = 0; i < b->n_seed; i++)
        json_add_int(choose, b->seed[i]);
    if (b->metric)
        json_put_text(m, "metric", b->metric);
    if (b->length >= 0)
        json_put_int(m, "length", b->length);
    if (b->only)
        json_put(m, "at", b->only);
    return m.v;
}

/* True for a map or list of this kind with items that are all of the other kind. */
static bool holds_only(const struct value *v, enum value_kind kind, enum value_kind items)
{
    bool good = v && v->kind == kind && v->n > 0;
    for (int i = 0; good && i < v->n; i++)
        good = v->item[i]->kind == items;
    return good;
}

peat_status best_over_from_value(struct best_over *b, const struct value *v, struct arena *a,
                                 struct error *err)
{
    const struct value *axes = value_get(v, "axes"), *choose = value_get(v, "choose");
    *b = (struct best_over){.length = -1};
    if (!v || v->kind == VALUE_NULL)
        return PEAT_OK;
    b->halves = json_text_is(v, "by", by_labels[BY_HALVES]);
    bool by_seeds =
        json_text_is(v, "by", by_labels[BY_SEEDS]) && holds_only(choose, VALUE_LIST, VALUE_INT);
    b->only = value_get(v, "at");
    if (!holds_only(axes, VALUE_LIST, VALUE_TEXT) || !(b->halves || by_seeds) ||
        (b->only && !holds_only(b->only, VALUE_MAP, VALUE_TEXT)))
        return error_set(err, PEAT_CORRUPT, "report.best_over is damaged");
    b->axis = ARENA_ARRAY(a, axes->n, const char *);
    b->seed = ARENA_ARRAY(a, by_seeds ? choose->n : 0, int64_t);
    for (; b->n_axis < axes->n; b->n_axis++)
        b->axis[b->n_axis] = axes->item[b->n_axis]->text;
    for (; by_seeds && b->n_seed < choose->n; b->n_seed++)
        b->seed[b->n_seed] = choose->item[b->n_seed]->integer;
    b->metric = json_get_text(v, "metric");
    b->length = json_get_int(v, "length", -1);
    return PEAT_OK;
}
