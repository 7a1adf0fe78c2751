/* SPDX-License-Identifier: MIT */
/* plantrunks.c: finds the cells of a plan that share steps, and the steps. */

#include "cell/trunk.h"
#include "planning.h"

/* A cell that may share steps. */
struct sharer {
    int cell; /* index in the plan */
    const char *hash;
    int64_t end;
};

/* Sorts cells of one trunk together, the shortest first; equal ones in the order of the plan. */
static int compare_sharers(const void *a, const void *b)
{
    const struct sharer *x = a, *y = b;
    int order = strcmp(x->hash, y->hash);
    if (order)
        return order;
    return x->end != y->end ? (x->end < y->end ? -1 : 1) : x->cell - y->cell;
}

/* Lists the cells that have a trunk and is_run (NULL: all), in this order. */
static struct sharer *list_sharers(const struct plan *p, const bool *is_run, int *n,
                                   struct arena *a)
{
    struct sharer *s = ARENA_ARRAY(a, p->n + 1, struct sharer);
    *n = 0;
    for (int i = 0; i < p->n; i++) {
        const struct value *trunk = p->cell[i].trunk;
        if (trunk && (!is_run || is_run[i]))
            s[(*n)++] =
                (struct sharer){i, json_get_text(trunk, "hash"), json_get_int(trunk, "end", 0)};
    }
    qsort(s, (size_t)*n, sizeof(*s), compare_sharers);
    return s;
}

static const struct value *trunk_of(const struct sharer *s, const struct value *cells,
                                    struct arena *a)
{
    struct json trunk = json_map(a);
    json_put_text(trunk, "hash", s->hash);
    json_put_int(trunk, "end", s->end);
    if (cells)
        json_put(trunk, "cells", cells);
    return trunk.v;
}

/* Sets the trunks of n cells of one trunk; a single cell shares nothing. */
static void put_trunk(struct plan *p, const struct sharer *s, int n, struct arena *a)
{
    struct json cells = json_map(a);
    for (int i = 0; i < n; i++)
        json_put_int(cells, p->cell[s[i].cell].id, s[i].end);
    for (int i = 0; i < n; i++)
        p->cell[s[i].cell].trunk = n > 1 ? trunk_of(&s[i], cells.v, a) : NULL;
}

void plan_name_trunks(struct plan *p, struct arena *a)
{
    int n;
    const struct sharer *s = list_sharers(p, NULL, &n, a);
    for (int begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && strcmp(s[end].hash, s[begin].hash) == 0)
            end++;
        put_trunk(p, &s[begin], end - begin, a);
    }
}

/* True for a cell with a seed for choosing, at labels where nothing is chosen. */
static bool is_never_run(const struct experiment *e, const struct plan_cell *c)
{
    const struct best_over *b = &e->report.best_over;
    bool fits = true;
    for (int i = 0; i < e->n_axis; i++)
        fits = fits && best_over_fits(b, e->axis[i].key, c->axis[i]);
    return !fits && best_over_keeps(b, c->seed);
}

bool find_trunks(struct planning *p)
{
    for (int i = 0; i < p->plan->n; i++) {
        struct plan_cell *c = &p->plan->cell[i];
        const struct sharer s = {i, c->config.trunk, trunk_end(&c->config)};
        c->trunk = s.end && !is_never_run(p->e, c) ? trunk_of(&s, NULL, p->a) : NULL;
    }
    plan_name_trunks(p->plan, p->a);
    return true;
}

void plan_shared_steps(const struct plan *p, const bool *is_run, int64_t *from, struct arena *a)
{
    int n;
    const struct sharer *s = list_sharers(p, is_run, &n, a);
    memset(from, 0, (size_t)p->n * sizeof(*from));
    for (int i = 1; i < n; i++)
        if (strcmp(s[i].hash, s[i - 1].hash) == 0)
            from[s[i].cell] = s[i - 1].end;
}
