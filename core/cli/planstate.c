/* SPDX-License-Identifier: MIT */
/* planstate.c: cells of a plan as the run directory has them. */
#include "cli/planstate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "grid/rundir.h"
#include "grid/stale.h"

static bool has_plan(const char *dir)
{
    char *path = path_join(dir, "plan.json");
    bool exists = file_exists(path);
    free(path);
    return exists;
}

static const char *state_of(const struct rundir *r, const char *id)
{
    for (int i = 0; i < r->n; i++)
        if (strcmp(r->cell[i].id, id) == 0)
            return cell_state_name(r->cell[i].state);
    return cell_state_name(CELL_TODO);
}

peat_status plan_state_read(struct plan_state *s, const char *dir, const struct plan *p,
                            struct arena *a, struct error *err)
{
    struct rundir r = {0};
    s->name = ARENA_ARRAY(a, p->n, const char *);
    if (has_plan(dir)) {
        peat_status status = rundir_read(dir, &r, a, err);
        if (status != PEAT_OK)
            return status;
        stale_find(&r, p, a);
    }
    for (int i = 0; i < p->n; i++)
        s->name[i] = state_of(&r, p->cell[i].id);
    return PEAT_OK;
}

peat_status plan_state_write(const char *dir, const struct plan *p, struct arena *a,
                             struct error *err)
{
    int lock = -1;
    peat_status status = rundir_check(dir, p, err);
    if (status == PEAT_OK)
        status = rundir_lock(dir, &lock, err);
    if (status == PEAT_OK)
        status = rundir_write(dir, p, a, err);
    if (lock >= 0)
        close(lock);
    return status;
}

const char *plan_state_name(const struct plan_state *s, int cell)
{
    return s->name[cell];
}

/* Each state once, in the order in which the cells have them. */
void plan_state_counts(const struct plan_state *s, int n, struct strbuf *out)
{
    for (int i = 0; i < n; i++) {
        int same = 0;
        bool counted = false;
        for (int j = 0; j < n; j++) {
            bool equal = strcmp(s->name[i], s->name[j]) == 0;
            counted = counted || (equal && j < i);
            same += equal;
        }
        if (!counted)
            strbuf_addf(out, "%s%d %s", out->n ? ", " : "", same, s->name[i]);
    }
}

struct value *plan_state_value(const struct plan_state *s, struct value *plan, struct arena *a)
{
    const struct place nowhere = {NULL, 0, 0};
    struct value *cells = value_get(plan, "cells");
    for (int i = 0; i < cells->n; i++)
        value_set(a, cells->item[i], "state", nowhere, value_text(a, nowhere, s->name[i]));
    return plan;
}
