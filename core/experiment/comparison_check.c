/* SPDX-License-Identifier: MIT */
/* comparison_check.c: contrasts and claims and metrics against the rows of the plan. */
#include <string.h>

#include "comparisons.h"
#include "experiment/claim.h"

/* ---- metrics ---- */

peat_status metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                         struct place at)
{
    const peat_plugin *task = row->cell.config.task.plugin->desc;
    const peat_metric *metric = ((const peat_task *)task->interface)->metric;
    struct strbuf list;
    if (!wanted[0])
        return PEAT_OK;
    strbuf_init(&list);
    bool found = false;
    for (const peat_metric *m = metric; m->name; m++) {
        found = found || strcmp(m->name, wanted) == 0;
        strbuf_addf(&list, "%s%s", m == metric ? "" : ", ", m->name);
    }
    peat_status status = found ? PEAT_OK
                               : place_error(p->err, at, "task '%s' has no metric '%s'; it has: %s",
                                             task->id, wanted, list.text);
    strbuf_release(&list);
    return status;
}

/* ---- rows ---- */

/* The rows as labels. */
static struct labelled labels_of(const struct planning *p)
{
    int n_axis = p->e->n_axis;
    const char **key = ARENA_ARRAY(p->a, n_axis + 1, const char *);
    const char *const **label = ARENA_ARRAY(p->a, p->n + 1, const char *const *);
    for (int i = 0; i < n_axis; i++)
        key[i] = p->e->axis[i].key;
    for (int i = 0; i < p->n; i++)
        label[i] = p->row[i].cell.axis;
    return (struct labelled){n_axis, p->n, key, label};
}

static int count_matches(const struct labelled *rows, const struct value *map)
{
    int n = 0;
    for (int i = 0; i < rows->n_row; i++)
        n += labels_match(rows, i, map);
    return n;
}

static peat_status no_pair(struct planning *p, const struct contrast *c,
                           const struct labelled *rows)
{
    for (int side = 0; c->factor < 0 && side < 2; side++) {
        int n = count_matches(rows, c->side->item[side]);
        if (n != 1)
            return place_error(p->err, c->side->item[side]->at,
                               n ? "these labels name %d rows of the plan: name more axes"
                                 : "no row of the plan has these labels",
                               n);
    }
    if (c->factor < 0)
        return place_error(p->err, c->side->at, "both are the same row");
    return place_error(p->err, c->at,
                       "'%s' compares nothing: no two rows of the plan have the labels '%s' and "
                       "'%s' of %s and agree on all other axes",
                       c->name, c->label[0], c->label[1], rows->axis[c->factor]);
}

/* Not given: the task chooses, which is seen when it is run. */
static bool is_evaluated(const struct plan_row *row, int64_t length)
{
    const peat_reals *lengths = &row->cell.config.eval.lengths;
    bool found = lengths->n == 0;
    for (size_t i = 0; i < (size_t)lengths->n; i++)
        found = found || lengths->item[i] == (double)length;
    return found;
}

/* Which of several lengths must be said before there is a result. */
static peat_status check_has_length(struct planning *p, const struct value *claim,
                                    const struct plan_row *row)
{
    if (value_get(claim, "length") || row->cell.config.eval.lengths.n < 2)
        return PEAT_OK;
    return place_error(p->err, claim->at,
                       "claim '%s' needs a 'length': row '%s' is evaluated at several",
                       value_get(claim, "name")->text, row->cell.label);
}

static peat_status check_measure(struct planning *p, const struct value *v,
                                 const struct plan_row *row)
{
    const struct value *metric = value_get(v, "metric"), *length = value_get(v, "length");
    peat_status status = metric ? metric_check(p, row, metric->text, metric->at) : PEAT_OK;
    if (status == PEAT_OK && length && !is_evaluated(row, length->integer))
        return place_error(p->err, length->at, "row '%s' is not evaluated at length %s",
                           row->cell.label, length->text);
    return status;
}

static peat_status check_contrast(struct planning *p, const struct labelled *rows,
                                  const struct contrast *c, const struct value *v)
{
    struct contrast_pairs pairs;
    contrast_pairs_find(c, rows, p->a, &pairs);
    peat_status status = pairs.n ? PEAT_OK : no_pair(p, c, rows);
    for (int i = 0; status == PEAT_OK && i < pairs.n; i++) {
        status = check_measure(p, v, &p->row[pairs.pair[i].a]);
        if (status == PEAT_OK)
            status = check_measure(p, v, &p->row[pairs.pair[i].b]);
        if (status == PEAT_OK && value_get(v, "direction"))
            status = check_has_length(p, v, &p->row[pairs.pair[i].a]);
    }
    return status;
}

peat_status comparisons_check(struct planning *p)
{
    struct labelled rows = labels_of(p);
    const struct value *const list[] = {p->e->report.contrasts, p->e->claims};
    peat_status status = PEAT_OK;
    for (int k = 0; k < 2; k++)
        for (int i = 0; status == PEAT_OK && list[k] && i < list[k]->n; i++) {
            struct contrast c;
            status = contrast_from_value(&c, list[k]->item[i], &rows, p->err);
            if (status == PEAT_OK)
                status = check_contrast(p, &rows, &c, list[k]->item[i]);
        }
    return status;
}
