/* SPDX-License-Identifier: MIT */
/* kinds.c: finds kinds of machines from the meta.json of cells. */
#include "report/kinds.h"

#include "cell/cellmeta.h"

enum { KEYS_MAX = 32 };

struct search {
    struct kinds *k;
    struct arena *a;
    int n;
    const struct result_cell **cell; /* cells that count and have a meta.json */
    bool differs[KEYS_MAX];          /* between two of these cells */
};

/* The ending in a name of kernels that gemm_identify adds for precision, which belongs to the cell
 * and not to the machine; NULL: no such ending. */
static const char *rounding(const char *value)
{
    return strstr(value, " + bf16 ");
}

/* For a cell that another program trained, that program is its engine. */
static const char *value_of(const struct result_cell *c, int key)
{
    const char *value = json_get_text(c->meta, deciding_keys[key]);
    const char *by = json_get_text(c->meta, "trained_by");
    if (by && strcmp(deciding_keys[key], "engine") == 0)
        return by;
    return value ? value : "";
}

/* Leaves precision out of the comparison, where one cell rounds and the other does not. */
static bool same(const struct result_cell *x, const struct result_cell *y, int key)
{
    const char *a = value_of(x, key), *b = value_of(y, key);
    const char *end_a = rounding(a), *end_b = rounding(b);
    if (!end_a == !end_b)
        return strcmp(a, b) == 0;
    size_t n_a = end_a ? (size_t)(end_a - a) : strlen(a);
    size_t n_b = end_b ? (size_t)(end_b - b) : strlen(b);
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

static bool rounds(const struct result_cell *c)
{
    bool found = false;
    for (int i = 0; i < KEYS_MAX && deciding_keys[i]; i++)
        found = found || rounding(value_of(c, i));
    return found;
}

static bool same_kind(const struct result_cell *x, const struct result_cell *y)
{
    bool all = true;
    for (int i = 0; i < KEYS_MAX && deciding_keys[i]; i++)
        all = all && same(x, y, i);
    return all;
}

static void kinds_add_cells(struct search *f, const struct results *r, int n_row,
                            const struct result_row *row, bool rounding_ones)
{
    for (int i = 0; i < n_row; i++)
        for (int k = 0; k < row[i].n_cell && f->n < r->n_cell; k++) {
            const struct result_cell *c = row[i].cell[k];
            if (result_counts(c) && json_get_text(c->meta, "engine") && rounds(c) == rounding_ones)
                f->cell[f->n++] = c;
        }
}

/* Lists the cells to be compared with the first one. Cells that round come first, because they have
 * most keys to compare. */
static void list_cells(struct search *f, const struct results *r, int n_row,
                       const struct result_row *row)
{
    f->cell = ARENA_ARRAY(f->a, r->n_cell, const struct result_cell *);
    kinds_add_cells(f, r, n_row, row, true);
    kinds_add_cells(f, r, n_row, row, false);
    for (int i = 1; i < f->n; i++)
        for (int key = 0; key < KEYS_MAX && deciding_keys[key]; key++)
            f->differs[key] = f->differs[key] || !same(f->cell[0], f->cell[i], key);
}

static const char *kind_text(const struct search *f, const struct result_cell *c)
{
    const char *text = NULL;
    for (int i = 0; i < KEYS_MAX && deciding_keys[i]; i++) {
        const char *value = value_of(c, i);
        if (f->differs[i])
            text = arena_item(f->a, text, "%s %s", deciding_keys[i], *value ? value : "unknown");
    }
    return text ? text : "one kind";
}

/* hosts: separated by ", ". */
static bool has_host(const char *hosts, const char *host)
{
    size_t n = strlen(host);
    for (const char *at = hosts; (at = strstr(at, host)); at++)
        if ((at == hosts || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

static void sort_cells(struct search *f)
{
    struct kinds *k = f->k;
    const struct result_cell **first = ARENA_ARRAY(f->a, f->n, const struct result_cell *);
    k->kind = ARENA_ARRAY(f->a, f->n, struct machine_kind);
    for (int i = 0; i < f->n; i++) {
        int at = 0;
        while (at < k->n && !same_kind(first[at], f->cell[i]))
            at++;
        if (at == k->n) {
            first[k->n++] = f->cell[i];
            k->kind[at] = (struct machine_kind){kind_text(f, f->cell[i]), "", 0};
        }
        struct machine_kind *kind = &k->kind[at];
        const char *host = json_get_text(f->cell[i]->meta, "host");
        kind->n++;
        if (host && !has_host(kind->hosts, host))
            kind->hosts = arena_item(f->a, kind->hosts, "%s", host);
    }
}

static void count_crossed(struct search *f, const struct results *r)
{
    for (int s = 0; s < r->n_seed; s++) {
        const struct result_cell *first = NULL;
        bool crossed = false;
        for (int i = 0; i < f->n; i++) {
            if (f->cell[i]->seed != r->seed[s])
                continue;
            first = first ? first : f->cell[i];
            crossed = crossed || !same_kind(first, f->cell[i]);
        }
        f->k->seeds += first != NULL;
        f->k->crossed += crossed;
    }
}

void kinds_find(struct kinds *k, const struct results *r, int n_row, const struct result_row *row,
                struct arena *a)
{
    struct search f = {.k = k, .a = a};
    *k = (struct kinds){0};
    list_cells(&f, r, n_row, row);
    sort_cells(&f);
    count_crossed(&f, r);
}

void kinds_note(struct table *t, const struct kinds *k)
{
    if (!k->crossed)
        return;
    table_note(t,
               "in %d of %d seed%s rows were computed on different kinds of machines, which alone "
               "changes results a little (docs/determinism.md); run.slurm.constraint keeps a grid "
               "on one kind",
               k->crossed, k->seeds, plural(k->seeds));
    for (int i = 0; i < k->n; i++)
        table_note(t, "  %d cell%s (%s): %s", k->kind[i].n, plural(k->kind[i].n),
                   *k->kind[i].hosts ? k->kind[i].hosts : "host unknown", k->kind[i].text);
}
