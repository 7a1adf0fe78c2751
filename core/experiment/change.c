/* SPDX-License-Identifier: MIT */
/* change.c: checks `interaction` and `trend` of a claim, and reads their normal form. */
#include "experiment/change.h"

#include "reading.h"

const char *const change_kinds[CHANGE_KINDS] = {
    [CHANGE_INTERACTION] = "interaction", [CHANGE_SLOPE] = "slope", [CHANGE_MONOTONE] = "monotone"};
const char *const change_scales[] = {"value", "log2", "order", "monotone", NULL};

/* ---- x ---- */

double label_number(const char *label)
{
    char *end;
    double x = strtod(label, &end);
    return end > label && !*end && isfinite(x) ? x : (double)NAN;
}

double change_x(enum change_scale scale, const char *label, int i)
{
    double x = label_number(label);
    if (scale == SCALE_ORDER || scale == SCALE_MONOTONE)
        return i;
    return scale == SCALE_VALUE ? x : x > 0.0 ? log2(x) : (double)NAN;
}

int change_order(const char **label, int n)
{
    int kept = 0;
    bool numbers = true;
    for (int i = 0; i < n; i++) {
        if (texts_find(label, kept, label[i]) < 0)
            label[kept++] = label[i];
        numbers = numbers && !isnan(label_number(label[i]));
    }
    for (int i = 1; numbers && i < kept; i++)
        for (int j = i; j > 0 && label_number(label[j]) < label_number(label[j - 1]); j--) {
            const char *later = label[j - 1];
            label[j - 1] = label[j];
            label[j] = later;
        }
    return kept;
}

/* ---- from the file ---- */

/* {AXIS: ...} with an axis that is not the factor. */
static bool read_axis(struct reading *r, const struct value *v, const char *key,
                      const struct value *factor, int *axis)
{
    if (v->kind != VALUE_MAP || v->n != 1)
        return mistake(r->err, v->at, "'%s' must name one axis: %s", key,
                       strcmp(key, "trend") == 0
                           ? "{AXIS: log2}, or value, order or monotone in the place of log2"
                           : "{AXIS: [A, B]}, two of its labels");
    const struct value *name = value_text(r->a, v->key_at[0], v->key[0]);
    if (!comparison_axis(r, name, key, axis))
        return false;
    if (same_text(name->text, factor->text))
        return mistake(r->err, name->at, "'%s' names '%s', which is the factor", key, name->text);
    return true;
}

static bool read_scale(struct reading *r, const struct value *v)
{
    if (v->kind == VALUE_TEXT && names_find(change_scales, v->text) >= 0)
        return true;
    char near[SUGGESTION] = "";
    if (v->kind == VALUE_TEXT)
        suggestion(v->text, change_scales, names_count(change_scales), near);
    return mistake(r->err, v->at, "'over' of a trend is 'log2', 'value', 'order' or 'monotone'%s",
                   near);
}

/* The labels that the grid has on the axis; they must be numbers if the scale needs numbers. */
static bool check_numbers(struct reading *r, const struct axis *axis, const struct value *scale)
{
    enum change_scale s = (enum change_scale)names_find(change_scales, scale->text);
    for (int i = 0; i < axis->n_known; i++)
        if (isnan(change_x(s, axis->value[i].label, i)))
            return mistake(
                r->err, scale->at,
                "'%s' needs numbers%s, and axis '%s' has '%s': use 'order' or 'monotone'",
                scale->text, s == SCALE_LOG2 ? " above 0" : "", axis->key, axis->value[i].label);
    return true;
}

bool change_read(struct reading *r, const struct value *v, struct value *out)
{
    const struct value *interaction = value_get(v, "interaction"), *trend = value_get(v, "trend");
    const struct value *given = interaction ? interaction : trend, *factor;
    const char *key = interaction ? "interaction" : "trend";
    int axis;
    if (!given)
        return true;
    factor = value_get(out, "factor");
    if (interaction && trend)
        return mistake(r->err, trend->at, "a claim has 'interaction' or 'trend', not both");
    if (!factor)
        return mistake(r->err, given->at, "'%s' goes with 'contrast', not with 'rows'", key);
    if (!read_axis(r, given, key, factor, &axis))
        return false;
    struct value *map = value_map(r->a, given->at), *list = value_list(r->a, given->at);
    struct value *item = given->item[0];
    bool ok = interaction ? two_labels_read(r, &r->e->axis[axis], item, key, list)
                          : read_scale(r, item) && check_numbers(r, &r->e->axis[axis], item);
    value_set(r->a, map, r->e->axis[axis].key, given->at, interaction ? list : item);
    value_set(r->a, out, key, given->at, map);
    return ok;
}

/* ---- its normal form ---- */

static bool read_labels(struct change *c, const struct value *of)
{
    bool sound = of->kind == VALUE_LIST && of->n == 2;
    for (int i = 0; sound && i < 2; i++) {
        c->label[i] = of->item[i]->text;
        sound = c->label[i] != NULL;
    }
    return sound;
}

peat_status change_from_value(struct change *c, const struct value *claim,
                              const struct labelled *rows, struct error *err)
{
    const struct value *interaction = value_get(claim, "interaction");
    const struct value *v = interaction ? interaction : value_get(claim, "trend");
    *c = (struct change){.axis = -1};
    if (!v)
        return PEAT_OK;
    bool sound = v->kind == VALUE_MAP && v->n == 1;
    c->axis = sound ? labelled_axis(rows, v->key[0]) : -1;
    sound = sound && c->axis >= 0;
    if (sound && interaction) {
        c->kind = CHANGE_INTERACTION;
        sound = read_labels(c, v->item[0]);
    } else if (sound) {
        int scale = names_find(change_scales, v->item[0]->text);
        sound = scale >= 0;
        c->scale = (enum change_scale)scale;
        c->kind = c->scale == SCALE_MONOTONE ? CHANGE_MONOTONE : CHANGE_SLOPE;
    }
    return sound ? PEAT_OK
                 : error_set(err, PEAT_CORRUPT, "a claim's %s does not fit the axes of the plan",
                             interaction ? "interaction" : "trend");
}
