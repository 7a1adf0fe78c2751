/* SPDX-License-Identifier: MIT */
/* match.c: changes sizes of cells so that cells that are compared cost the same. */

#include "cell/setting.h"
#include "planning.h"

#define FACTOR_MAX 64 /* limit of the factor by which a size is changed */

/* One row at one value of the size that is adjusted. */
struct trial {
    int64_t size;
    double cost;
    struct plan_row row;
};

static double row_cost(const struct planning *p, const struct plan_row *row)
{
    return row->cell.q[p->e->match.by == 0 ? Q_PARAMS : Q_FLOPS_PER_TOKEN];
}

/* The unit of a size: a width stays divisible by the heads, with an even width for each. */
static int64_t unit_size(const struct planning *p, const struct plan_row *row)
{
    return strcmp(p->e->match.adjust, "model.d_model") == 0 ? 2 * row->cell.config.model.n_head : 1;
}

static bool try_size(struct planning *p, const struct plan_row *from, int64_t size, struct trial *t)
{
    struct place at = p->e->match.at;
    *t = (struct trial){.size = size, .row = *from};
    struct value *number = value_int(p->a, at, size);
    bool dropped;
    bool ok = setting_apply(&t->row.point.tree, p->e->match.adjust, at, number, p->a, p->err) &&
              row_config(p, &t->row, &dropped) && cost_measure(p, &t->row.cell);
    t->cost = row_cost(p, &t->row);
    return ok;
}

/* Brackets the target between two sizes; the cost grows with the size. When the size cannot go
 * further, both may be on the same side. */
static bool bracket(struct planning *p, const struct plan_row *row, double target, int64_t unit,
                    struct trial *low, struct trial *high)
{
    int64_t size = value_get_path(row->cell.config.resolved, p->e->match.adjust)->integer;
    bool ok = try_size(p, row, size, low);
    *high = *low;
    while (ok && high->cost < target && high->size < FACTOR_MAX * size) {
        *low = *high;
        ok = try_size(p, row, 2 * high->size, high);
    }
    while (ok && low->cost > target && low->size > unit) {
        *high = *low;
        int64_t half = low->size / 2 / unit * unit;
        ok = try_size(p, row, half < unit ? unit : half, low);
    }
    return ok;
}

static bool nearest_size(struct planning *p, const struct plan_row *row, double target,
                         struct trial *best)
{
    struct trial low, high, middle;
    int64_t unit = unit_size(p, row);
    bool ok = bracket(p, row, target, unit, &low, &high);
    while (ok && high.size - low.size > unit) {
        int64_t size = low.size + (high.size - low.size) / unit / 2 * unit;
        ok = try_size(p, row, size == low.size ? size + unit : size, &middle);
        if (middle.cost <= target)
            low = middle;
        else
            high = middle;
    }
    *best = fabs(low.cost - target) <= fabs(high.cost - target) ? low : high;
    return ok;
}

static bool match_row(struct planning *p, struct plan_row *row, const struct plan_row *to)
{
    const struct match_settings *m = &p->e->match;
    const char *by = m->by == 0 ? "params" : "flops";
    double target = row_cost(p, to);
    if (row_cost(p, row) == target)
        return true;
    struct trial best;
    if (!nearest_size(p, row, target, &best))
        return false;
    double off = fabs(best.cost - target) / target;
    const char *text = arena_printf(p->a, "%s = %" PRId64 " (%s %.2g %% off)", m->adjust, best.size,
                                    by, 100 * off);
    if (off > m->tolerance)
        return mistake(p->err, m->at,
                       "cell '%s' cannot be matched to '%s' within %g %%; the nearest is %s",
                       row->cell.label, to->cell.label, 100 * m->tolerance, text);
    *row = best.row;
    row->cell.matched = text;
    return true;
}

/* The row to which this one is matched; NULL with an error: no such row, or several. */
static const struct plan_row *reference(struct planning *p, const struct plan_row *row)
{
    const struct value *to = p->e->match.to;
    const struct plan_row *found = row_find(p, p->row, to, row, to);
    const struct plan_row *other = found ? row_find(p, found + 1, to, row, to) : NULL;
    if (!found)
        place_error(p->err, to->at, "there is no cell that '%s' could be matched to",
                    row->cell.label);
    if (other)
        place_error(p->err, to->at,
                    "cell '%s' could be matched to '%s' and to '%s'; name more axes",
                    row->cell.label, found->cell.label, other->cell.label);
    return other ? NULL : found;
}

bool match_rows_to(struct planning *p)
{
    bool ok = true;
    for (int i = 0; p->e->match.on && ok && i < p->n; i++) {
        if (point_matches(p->e, &p->row[i].point, p->e->match.to))
            continue;
        const struct plan_row *to = reference(p, &p->row[i]);
        ok = to && row_skip(p, &p->row[i], match_row(p, &p->row[i], to));
    }
    return ok;
}
