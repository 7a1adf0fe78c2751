/* SPDX-License-Identifier: MIT */
/* runlooks.c: runs an experiment look by look. */
#include "cli/runlooks.h"

#include "grid/lookfile.h"
#include "report/claim_verdict.h"

struct looking {
    struct loaded_plan *l;
    const char *dir;
    struct arena *a;
    bool *wanted; /* by the plan's cells: needed by the looks so far */
    bool *open;   /* by the plan's cells: in a row that an undecided claim compares */
};

int look_place(const struct experiment *e, int64_t seed)
{
    int place = 0;
    for (int i = 0; i < e->n_seed && e->seed[i] != seed; i++)
        place += !best_over_keeps(&e->report.best_over, e->seed[i]);
    return best_over_keeps(&e->report.best_over, seed) ? -1 : place;
}

/* ---- choosing cells ---- */

static void want(struct looking *x, int from, int to)
{
    const struct plan *p = &x->l->plan;
    for (int i = 0; i < p->n; i++) {
        int place = look_place(&x->l->experiment, p->cell[i].seed);
        x->wanted[i] = x->wanted[i] || place < 0 || (place >= from && place < to && x->open[i]);
    }
}

static bool has_cell(const struct result_row *row, const char *id)
{
    for (int k = 0; k < row->n_cell; k++)
        if (same_text(row->cell[k]->id, id))
            return true;
    return false;
}

/* A claim that a later look decided in an earlier run is open at look k, too. */
static bool is_open(const struct claim_verdict *v, int k)
{
    return v->verdict == CLAIM_UNDECIDED || v->look > k + 1;
}

static void find_open(struct looking *x, const struct results *r, const struct claim_verdicts *v,
                      int look)
{
    const struct plan *p = &x->l->plan;
    bool *row = ARENA_ARRAY(x->a, r->n_row, bool);
    for (int i = 0; i < v->n; i++)
        for (int k = 0; is_open(&v->item[i], look) && k < v->item[i].effects.pairs.n; k++) {
            row[v->item[i].effects.pairs.pair[k].a] = true;
            row[v->item[i].effects.pairs.pair[k].b] = true;
        }
    for (int i = 0; i < p->n; i++) {
        x->open[i] = false;
        for (int j = 0; j < r->n_row && !x->open[i]; j++)
            x->open[i] = row[j] && has_cell(&r->row[j], p->cell[i].id);
    }
}

/* The number of cells in rows of the table that the looks so far need and that have not ended. */
static int count_pending(const struct looking *x, const struct results *r)
{
    int n = 0;
    for (int i = 0; i < r->n_row; i++)
        for (int k = 0; k < r->row[i].n_cell; k++) {
            const struct result_cell *c = r->row[i].cell[k];
            for (int j = 0; j < x->l->plan.n; j++)
                n += x->wanted[j] && same_text(x->l->plan.cell[j].id, c->id) &&
                     !cell_has_ended(c->state);
        }
    return n;
}

/* ---- one look ---- */

/* Marks cells that neither a look so far nor a later one needs. */
static peat_status keep_decided(const struct looking *x, int look, struct error *err)
{
    const struct plan *p = &x->l->plan;
    const char **id = ARENA_ARRAY(x->a, p->n + 1, const char *);
    int n = 0;
    for (int i = 0; i < p->n; i++)
        if (!x->wanted[i] && !x->open[i])
            id[n++] = p->cell[i].id;
    return looks_keep(x->dir, look, n, id, x->a, err);
}

static void say_look(const struct looking *x, const struct claim_verdicts *v, int k, bool quiet)
{
    const struct looks *looks = &x->l->experiment.looks;
    int open = 0;
    for (int i = 0; i < v->n; i++)
        open += is_open(&v->item[i], k);
    if (!quiet)
        cli_print("look %d of %d, %d seeds: %d of %d claim%s decided\n", k + 1, looks->n,
                  looks->count[k], v->n - open, v->n, plural(v->n));
}

/* *more: another look has cells to run. */
static bool judge(struct looking *x, int k, bool quiet, bool *more, struct error *err)
{
    static const struct results_options none;
    const struct looks *looks = &x->l->experiment.looks;
    struct results r;
    struct claim_history h;
    char *dir[] = {arena_strdup(x->a, x->dir)};
    *more = false;
    if (results_read(&r, 1, dir, &none, x->a, err) != PEAT_OK ||
        claims_history(&h, &r, x->a, err) != PEAT_OK)
        return false;
    if (count_pending(x, &r))
        return true;
    find_open(x, &r, &h.now, k);
    say_look(x, &h.now, k, quiet);
    for (int i = 0; k + 1 < looks->n && i < x->l->plan.n; i++)
        *more = *more || x->open[i];
    return keep_decided(x, k + 1, err) == PEAT_OK;
}

/* Adds up finished cells; cells that a look left are counted by the next one. */
static void add_end(struct runner_end *all, const struct runner_end *one)
{
    const int done = all->done, diverged = all->diverged;
    *all = *one;
    all->done += done;
    all->diverged += diverged;
}

bool run_looks(struct loaded_plan *l, const char *dir, const struct runner_options *o,
               const char *program, struct runner_end *end, struct error *err)
{
    const struct looks *looks = &l->experiment.looks;
    struct looking x = {l, dir, &l->arena, ARENA_ARRAY(&l->arena, l->plan.n, bool),
                        ARENA_ARRAY(&l->arena, l->plan.n, bool)};
    struct runner_options own = *o;
    struct runner_end one;
    bool more = true;
    *end = (struct runner_end){.done = 0};
    for (int i = 0; i < l->plan.n; i++)
        x.open[i] = true;
    own.wanted = x.wanted;
    for (int k = 0; more && k < looks->n; k++) {
        want(&x, k ? looks->count[k - 1] : 0, looks->count[k]);
        if (runner_run(dir, &l->plan, &own, program, &one, err) != PEAT_OK)
            return false;
        add_end(end, &one);
        if (o->dry || one.launched || one.interrupted)
            return true;
        if (!judge(&x, k, o->quiet, &more, err))
            return false;
    }
    return true;
}
