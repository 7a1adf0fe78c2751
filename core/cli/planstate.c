/* SPDX-License-Identifier: MIT */
/* planstate.c: finds the states of a plan's cells in the run directory. */
#include "cli/planparts.h"

#include "grid/stale.h"

enum cell_state *plan_states(const char *dir, const struct plan *p, struct arena *a,
                             struct error *err)
{
    struct rundir r = {0}, mine = {.path = dir, .n = p->n};
    enum cell_state *state = ARENA_ARRAY(a, p->n, enum cell_state);
    mine.cell = ARENA_ARRAY(a, p->n + 1, struct cell_files);
    if (dir_has(dir, "plan.json")) {
        if (rundir_read(dir, &r, a, err) != PEAT_OK)
            return NULL;
        stale_find(&r, p, a);
        for (int i = 0; i < r.n && err->status == PEAT_OK; i++)
            if (r.cell[i].damage)
                error_set(err, PEAT_CORRUPT, "%s", r.cell[i].damage);
    }
    for (int i = 0; i < p->n; i++) {
        const struct cell_files *c = rundir_cell(&r, p->cell[i].id);
        mine.cell[i] = c ? *c : (struct cell_files){.id = p->cell[i].id, .state = CELL_TODO};
    }
    if (rundir_choose(&mine, plan_value(p, a), a, err) != PEAT_OK)
        return NULL;
    for (int i = 0; i < p->n; i++)
        state[i] = mine.cell[i].state;
    return state;
}

void plan_states_count(const char *const *state, int n, struct strbuf *out)
{
    for (int i = 0; i < n; i++) {
        int same = times_said(state, n, i);
        if (same)
            strbuf_item(out, "%d %s", same, state[i]);
    }
}

bool plan_write(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    int lock;
    if (rundir_check(dir, p, a, err) != PEAT_OK || rundir_lock(dir, &lock, a, err) != PEAT_OK)
        return false;
    bool written = rundir_write(dir, p, a, err) == PEAT_OK;
    close(lock);
    return written;
}
