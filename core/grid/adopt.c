/* SPDX-License-Identifier: MIT */
/* adopt.c: cells of a run directory whose labels have changed. */

#include "grid/rundir.h"

static bool is_among(const char *text, const char *const *sorted, int n)
{
    return n > 0 && bsearch(&text, sorted, (size_t)n, sizeof(*sorted), compare_texts);
}

/* Directories that do not have the name of a cell of the plan; *n of them. */
static const char **list_leftovers(const struct plan *p, char *const *name, int n_name, int *n,
                                   struct arena *a)
{
    const char **id = ARENA_ARRAY(a, p->n + 1, const char *);
    const char **left = ARENA_ARRAY(a, n_name + 1, const char *);
    for (int i = 0; i < p->n; i++)
        id[i] = p->cell[i].id;
    qsort(id, (size_t)p->n, sizeof(*id), compare_texts);
    *n = 0;
    for (int i = 0; i < n_name; i++)
        if (!is_among(name[i], id, p->n))
            left[(*n)++] = arena_strdup(a, name[i]);
    return left;
}

/* Compares the start of the hash in its name, then the whole hash. */
static bool is_cell(const char *cells, const char *name, const struct plan_cell *c, struct arena *a)
{
    const char *dash = strrchr(name, '-');
    struct value *config = NULL;
    if (!dash || strcmp(dash, strrchr(c->id, '-')) != 0)
        return false;
    struct arena_mark mark = arena_mark(a);
    bool same =
        json_read_file(path_in(cells, name).text, "config.json", a, &config, NULL) == PEAT_OK &&
        json_text_is(config, "hash", c->config.hash);
    arena_rewind(a, mark);
    return same;
}

static void adopt_one(const char *cells, const char **left, int n, struct plan_cell *c,
                      struct arena *a)
{
    for (int i = 0; i < n; i++)
        if (left[i] && is_cell(cells, left[i], c, a)) {
            c->id = left[i];
            left[i] = NULL;
            return;
        }
}

void rundir_adopt(const char *dir, struct plan *p, struct arena *a)
{
    const struct file_path cells = path_in(dir, "cells");
    char **name;
    int n_name, n;
    if (dir_list(cells.text, &name, &n_name, NULL) == PEAT_OK) {
        const char **left = list_leftovers(p, name, n_name, &n, a);
        for (int i = 0; n > 0 && i < p->n; i++)
            if (!is_among(p->cell[i].id, (const char *const *)name, n_name))
                adopt_one(cells.text, left, n, &p->cell[i], a);
        plan_name_trunks(p, a);
        names_free(name, n_name);
    }
}
