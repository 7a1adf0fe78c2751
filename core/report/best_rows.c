/* SPDX-License-Identifier: MIT */
/* best_rows.c: replaces the rows of all values by the row of the value that was chosen. */
#include "labels.h"

/* ---- choosing ---- */

/* Chooses from the cells of all directories together. */
static peat_status choose(struct results *r, struct arena *a, struct error *err)
{
    const struct value *plan = r->dir[0].plan;
    struct best *b = &r->best;
    peat_status status = best_open(b, plan, r->n_cell, a, err);
    if (status != PEAT_OK || b->over.n_axis == 0)
        return status;
    for (int i = 0; i < r->n_cell; i++)
        best_add(b, r->cell[i].planned, r->cell[i].state, r->cell[i].result, a);
    best_choose(b, value_get(plan, "report"), a);
    for (int i = 0; i < r->n_cell; i++)
        r->cell[i].role = b->cell[i].role;
    return PEAT_OK;
}

/* ---- cells ---- */

bool results_reports(const struct results *r, const struct result_cell *c)
{
    return r->best.over.n_axis == 0 || c->role == BEST_REPORTED || c->role == BEST_WAITS;
}

int results_count_reported(const struct results *r)
{
    int n = 0;
    for (int i = 0; i < r->n_cell; i++)
        n += results_reports(r, &r->cell[i]);
    return n;
}

static const struct best_cell *choice_of(const struct results *r, const struct result_cell *c)
{
    return &r->best.cell[c - r->cell];
}

/* A cell without results, for a row without a chosen value. */
static struct result_cell *stand_in(const struct result_cell *c, enum cell_state state,
                                    const struct results *r, struct arena *a)
{
    struct result_cell *copy = ARENA_NEW(a, struct result_cell);
    *copy = *c;
    copy->state = state;
    copy->result = copy->meta = NULL;
    copy->batches = copy->init = copy->shapes = copy->damage = NULL;
    for (int l = 0; l < r->n_length; l++) {
        copy->value[l] = (double)NAN;
        copy->untrained[l] = copy->not_finite[l] = false;
    }
    return copy;
}

/* Keeps the cells of the reported seeds. False: the row has another value than the shown one. */
static bool keep_cells(const struct results *r, struct result_row *row, struct arena *a)
{
    const struct best *b = &r->best;
    const struct best_cell *first = choice_of(r, row->cell[0]);
    const struct best_row *choice = &b->row[first->row];
    const struct best_value *shown = &choice->value[choice->chosen < 0 ? 0 : choice->chosen];
    int n = 0;
    if (!best_has_value(b, first, shown))
        return false;
    for (int i = 0; i < row->n_cell; i++) {
        struct result_cell *c = row->cell[i];
        if (best_over_keeps(&b->over, c->seed))
            continue;
        if (choice->chosen < 0)
            c = stand_in(c, choice->open ? CELL_WAITING : CELL_DIVERGED, r, a);
        row->cell[n++] = c;
    }
    row->choice = choice;
    row->n_cell = n;
    return n > 0;
}

/* ---- axes ---- */

static void drop_axes(struct results *r)
{
    int kept = 0;
    for (int i = 0; i < r->n_axis; i++) {
        if (best_over_has(&r->best.over, r->axis[i]))
            continue;
        for (int k = 0; k < r->n_row; k++)
            r->row[k].axis[kept] = r->row[k].axis[i];
        r->axis[kept++] = r->axis[i];
    }
    r->n_axis = kept;
}

static void drop_seeds(struct results *r)
{
    int kept = 0;
    for (int i = 0; i < r->n_seed; i++)
        if (!best_over_keeps(&r->best.over, r->seed[i]))
            r->seed[kept++] = r->seed[i];
    r->n_seed = kept;
}

peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err)
{
    const struct best *b = &r->best;
    peat_status status = choose(r, a, err);
    if (status != PEAT_OK || b->over.n_axis == 0)
        return status;
    /* Rows keep the order of the plan, whatever was chosen. */
    struct result_row *all = r->row;
    int kept = 0, n = 0;
    bool chosen[EXPERIMENT_MAX_AXES];
    const struct result_row **first = ARENA_ARRAY(a, r->n_row + 1, const struct result_row *);
    for (int k = 0; k < r->n_axis; k++)
        chosen[k] = best_over_has(&b->over, r->axis[k]);
    for (int i = 0; i < r->n_row; i++)
        n = labels_collect(r, &all[i], chosen, false, first, n);
    r->row = ARENA_ARRAY(a, r->n_row + 1, struct result_row);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < r->n_row; i++)
            if (labels_alike(r, &all[i], first[k], chosen, false) && keep_cells(r, &all[i], a))
                r->row[kept++] = all[i];
    r->n_row = kept;
    drop_axes(r);
    drop_seeds(r);
    return PEAT_OK;
}
