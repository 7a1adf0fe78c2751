/* SPDX-License-Identifier: MIT */
/* planbest.c: counts the cells that a plan with best_over runs. */
#include "cli/planparts.h"

#include "grid/best.h"

static bool *all_of(int n, struct arena *a)
{
    bool *is_run = ARENA_ARRAY(a, n + 1, bool);
    for (int i = 0; i < n; i++)
        is_run[i] = true;
    return is_run;
}

/* The choices before any cell has run. A plan that this process made is not damaged. */
static void open_best(const struct plan *p, struct best *b, struct arena *a)
{
    struct error none = {0};
    const struct value *plan = plan_value(p, a), *cells = value_get(plan, "cells");
    BUG_UNLESS(best_open(b, plan, p->n, a, &none) == PEAT_OK);
    for (int i = 0; i < p->n; i++)
        best_add(b, cells->item[i], CELL_TODO, NULL, a);
    best_choose(b, value_get(plan, "report"), a);
}

/* True for cells of the first value of a choice, counted for the value that will be chosen. */
static bool has_first_value(const struct best *b, const struct best_cell *c)
{
    return best_has_value(b, c, &b->row[c->row].value[0]);
}

void plan_runs_count(const struct plan *p, struct plan_runs *out, struct arena *a)
{
    const struct experiment *e = p->experiment;
    struct best b;
    bool *is_run = all_of(p->n, a);
    *out = (struct plan_runs){
        .n = p->n, .rows = p->n / e->n_seed, .seeds = e->n_seed, .is_run = is_run};
    if (e->report.best_over.n_axis == 0)
        return;
    open_best(p, &b, a);
    out->choices = b.n_row;
    out->seeds = e->n_seed - b.over.n_seed;
    out->n = 0;
    int reported = 0;
    for (int i = 0; i < p->n; i++) {
        enum best_role role = b.cell[i].role;
        bool first = role != BEST_UNCHOSEN && has_first_value(&b, &b.cell[i]);
        bool chooses = role == BEST_CHOOSES;
        is_run[i] = chooses || first;
        out->choosing += chooses && !b.over.halves;
        reported += first && (b.over.halves || !chooses);
        out->n += is_run[i];
    }
    out->rows = reported / out->seeds;
}

void plan_runs_say(const struct plan *p, const struct plan_runs *runs, struct arena *a)
{
    const struct best_over *over = &p->experiment->report.best_over;
    const char *axes = best_over_axes(over, a), *where = best_over_where(over, a);
    if (over->n_axis == 0)
        return;
    if (over->halves) {
        cli_print(
            "best_over: %s is chosen%s for each of %d row%s on one half of the held-out data, "
            "and the other is reported: every value is run%s\n",
            axes, where, runs->choices, plural(runs->choices), *where ? " there" : "");
        return;
    }
    cli_print("best_over: %d cells of %s choose %s%s for each of %d row%s; then %d cells of the "
              "chosen values are run, and %d of other values are not\n",
              runs->choosing, best_over_seeds(over, a), axes, where, runs->choices,
              plural(runs->choices), runs->n - runs->choosing, p->n - runs->n);
}
