/* SPDX-License-Identifier: MIT */
/* trunks.c: lists, checks and removes states that cells share. */
#include "grid/trunks.h"

#include "cell/cellmetrics.h"
#include "cell/trunk.h"
#include "train/generation.h"

static const char *all_trunks(const char *run, struct arena *a)
{
    return arena_printf(a, "%s/trunks", run);
}

struct kept_state *trunks_list(const char *run, struct arena *a, int *n)
{
    struct kept_state *s = NULL;
    char **trunk, **state;
    int n_trunk, n_state, room = 0;
    *n = 0;
    dir_list(all_trunks(run, a), &trunk, &n_trunk, NULL);
    for (int i = 0; i < n_trunk; i++) {
        const char *owner = arena_strdup(a, trunk[i]);
        dir_list(trunk_dir(run, owner, a), &state, &n_state, NULL);
        for (int k = 0; k < n_state; k++)
            if (generation_step(state[k]) >= 0)
                *ARENA_APPEND(a, s, *n, room) =
                    (struct kept_state){owner, arena_strdup(a, state[k])};
        names_free(state, n_state);
    }
    names_free(trunk, n_trunk);
    return s;
}

const char *kept_state_fault(const char *run, const struct kept_state *s, struct arena *a)
{
    const char *dir = arena_printf(a, "%s/%s", trunk_dir(run, s->trunk, a), s->name);
    struct value *state;
    struct error why = {0};
    if (generation_read_state(dir, a, &state, &why) != PEAT_OK)
        return arena_strdup(a, why.text);
    const struct value *identity = value_get(state, "identity");
    const char *hash = json_get_text(identity, "hash");
    if (!hash || strncmp(hash, s->trunk, strlen(s->trunk)) != 0)
        return "it belongs to another trunk";
    return metrics_are_whole(dir, value_get(identity, "metrics"))
               ? NULL
               : "its metrics.jsonl has changed since it was saved";
}

/* Whether a cell of the plan may still start from the trunk. */
static bool is_needed(const struct rundir *r, const char *dir, struct arena *a)
{
    const struct value *planned;
    for (int i = 0; (planned = json_get_item(r->plan, "cells", i)); i++) {
        const char *hash = json_get_text(value_get(planned, "trunk"), "hash");
        enum cell_state state = r->cell[i].state;
        bool ended = cell_has_ended(state) || state == CELL_STALE || state == CELL_UNCHOSEN ||
                     state == CELL_DECIDED;
        if (hash && !ended && strcmp(trunk_dir(r->path, hash, a), dir) == 0)
            return true;
    }
    return false;
}

void trunks_tidy(const struct rundir *r, struct arena *a)
{
    char **name;
    int n, kept = 0;
    dir_list(all_trunks(r->path, a), &name, &n, NULL);
    for (int i = 0; i < n; i++) {
        const char *dir = trunk_dir(r->path, name[i], a);
        bool needed = is_needed(r, dir, a);
        kept += needed;
        if (!needed)
            dir_remove(dir, NULL);
    }
    names_free(name, n);
    if (kept == 0)
        dir_remove(all_trunks(r->path, a), NULL);
}
