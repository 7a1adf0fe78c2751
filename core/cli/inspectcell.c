/* SPDX-License-Identifier: MIT */
/* inspectcell.c: opens a cell with its trained and its initial weights, and lists its tables. */
#include "cli/inspectcell.h"

peat_status inspected_cell_open(struct inspected_cell *c, const struct cli *cli, bool start_only,
                                const struct team *team)
{
    const struct cell_files *cell = cli_find_cell(cli);
    struct error *err = cli->err;
    memset(c, 0, sizeof(*c));
    c->start_only = start_only;
    if (!cell || cell_diagnosis_open_start(&c->start, cell, team, cli->trail, err) != PEAT_OK ||
        cell_tables(&c->start, &c->table_start, &c->n_start, err) != PEAT_OK)
        return err->status;
    c->table = c->table_start;
    c->n = c->n_start;
    if (!start_only && cell_diagnosis_open(&c->now, cell, 1, team, cli->trail, err) == PEAT_OK)
        cell_tables(&c->now, &c->table, &c->n, err);
    return err->status;
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
    error_set(err, PEAT_INVALID, "--what: the cell has no table '%s'; it has: ", name);
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
    static const struct table_column column[] = {{"table", false},      {"shape", true},
                                                 {"size before", true}, {"now", true},
                                                 {"moved", true},       {"meaning", false}};
    enum { COLUMNS = sizeof(column) / sizeof(*column) };
    struct columns t;
    columns_init(&t, a, COLUMNS);
    t.column = column;
    for (int i = 0; i < c->n; i++) {
        const struct cell_table *one = &c->table[i];
        const struct scheme_table *before = inspected_before(c, one), *now = &one->table;
        columns_add(&t, (const char *const[]){
                            one->name, shape(a, now), before ? number(a, table_size(before)) : "-",
                            c->start_only ? "-" : number(a, table_size(now)),
                            before && !c->start_only ? number(a, table_change(before, now)) : "-",
                            one->meaning});
    }
    columns_add_blocks(&t, 1, 0, (size_t)width, false, out);
    strbuf_add(out, "size: root mean square; moved: size of the difference over the size before\n");
}
