/* SPDX-License-Identifier: MIT */
/* inspectcell.c: opening a cell twice, and the list of its tables. */
#include "cli/inspectcell.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/columns.h"

peat_status inspected_cell_open(struct inspected_cell *c, const char *dir, const char *cell,
                                bool start_only, const struct team *team, struct trail *trail,
                                struct arena *a, struct error *err)
{
    struct rundir *r = ARENA_NEW(a, struct rundir);
    int index;
    memset(c, 0, sizeof(*c));
    c->start_only = start_only;
    peat_status status = rundir_read(dir, r, a, err);
    if (status == PEAT_OK)
        status = rundir_find(r, cell, &index, err);
    if (status == PEAT_OK)
        status = cell_diagnosis_open_start(&c->start, &r->cell[index], 1, team, trail, err);
    if (status == PEAT_OK)
        status = cell_tables(&c->start, &c->table_start, &c->n_start, err);
    if (status == PEAT_OK && !start_only)
        status = cell_diagnosis_open(&c->now, &r->cell[index], 1, team, trail, err);
    if (status == PEAT_OK && !start_only)
        status = cell_tables(&c->now, &c->table, &c->n, err);
    if (start_only) {
        c->table = c->table_start;
        c->n = c->n_start;
    }
    return status;
}

void inspected_cell_close(struct inspected_cell *c)
{
    if (c->start.cell)
        cell_diagnosis_close(&c->start);
    if (c->now.cell)
        cell_diagnosis_close(&c->now);
}

const struct cell_table *inspected_table(const struct inspected_cell *c, const char *name,
                                         struct error *err)
{
    enum { KNOWN_MAX = 128 };
    const char *known[KNOWN_MAX];
    int n = c->n < KNOWN_MAX ? c->n : KNOWN_MAX;
    if (c->n == 0) {
        error_set(err, PEAT_REFUSED, "the cell's scheme has nothing to show");
        return NULL;
    }
    for (int i = 0; i < c->n; i++)
        if (!name || strcmp(c->table[i].name, name) == 0)
            return &c->table[i];
    for (int i = 0; i < n; i++)
        known[i] = c->table[i].name;
    error_set(err, PEAT_INVALID, "--what: the cell has no table '%s'; there are ", name);
    error_add_names(err, name, known, n);
    return NULL;
}

const struct scheme_table *inspected_before(const struct inspected_cell *c,
                                            const struct cell_table *table)
{
    for (int i = 0; i < c->n_start; i++) {
        const struct cell_table *start = &c->table_start[i];
        if (strcmp(start->name, table->name) == 0 &&
            isfinite(table_change(&table->table, &start->table)))
            return &start->table;
    }
    return NULL;
}

static const char *number(struct arena *a, double x)
{
    return isfinite(x) ? arena_printf(a, "%.3g", x) : "-";
}

static const char *shape(struct arena *a, const struct scheme_table *t)
{
    const char *heads = t->heads ? arena_printf(a, "%" PRId64 " x ", t->heads) : "";
    return arena_printf(a, "%s%" PRId64 " x %" PRId64, heads, t->rows, t->columns);
}

void inspected_list(const struct inspected_cell *c, int width, struct strbuf *out, struct arena *a)
{
    enum { NAME, SHAPE, BEFORE, NOW, CHANGE, MEANING, COLUMNS };
    static const struct table_column column[COLUMNS] = {
        {"table", false}, {"shape", true}, {"size before", true},
        {"now", true},    {"moved", true}, {"what it is", false}};
    struct columns t = {.arena = a, .n = COLUMNS, .n_row = c->n, .column = column};
    t.cell = ARENA_ARRAY(a, (int64_t)c->n * COLUMNS, struct table_cell);
    for (int i = 0; i < c->n; i++) {
        const struct cell_table *one = &c->table[i];
        const struct scheme_table *before = inspected_before(c, one);
        const char *text[COLUMNS] = {
            one->name,
            shape(a, &one->table),
            before ? number(a, table_size(before)) : "-",
            c->start_only ? "-" : number(a, table_size(&one->table)),
            before && !c->start_only ? number(a, table_change(before, &one->table)) : "-",
            one->meaning};
        for (int k = 0; k < COLUMNS; k++)
            t.cell[i * COLUMNS + k] = (struct table_cell){text[k], "", false};
    }
    columns_add_blocks(&t, 1, 0, (size_t)width, false, out);
    strbuf_add(out, "size: root mean square; moved: size of the difference over the size before\n");
}
