/* SPDX-License-Identifier: MIT */
/* table.c: a table under construction: its columns, cells and notes; axes by name, and seeds. */
#include "report/selector.h"
#include "table_builder.h"

bool builder_axis(struct builder *b, const char *option, const char *name, int *axis)
{
    *axis = selector_axis(b->r, name);
    if (*axis < 0)
        selector_no_axis(b->r, option, name, b->a, b->err);
    return *axis >= 0;
}

/* ---- building ---- */

void table_column(struct table *t, const char *head, bool right)
{
    *ARENA_APPEND(t->arena, t->column, t->n_column, t->column_room) =
        (struct table_column){head, right};
}

void table_cell(struct table *t, struct table_cell cell)
{
    *ARENA_APPEND(t->arena, t->cell, t->n_cell, t->cell_room) = cell;
    t->n_row = t->n_cell / t->n_column;
}

void table_text(struct table *t, const char *text)
{
    table_cell(t, table_plain(text));
}

/* ---- notes ---- */

void table_note(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(t->arena, t->note, t->n_note, t->note_room) = arena_vprintf(t->arena, fmt, args);
    va_end(args);
}

void table_note_method(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(t->arena, t->method, t->n_method, t->method_room) = t->n_note;
    table_note(t, "%s", arena_vprintf(t->arena, fmt, args));
    va_end(args);
}

void table_limit_notes(struct table *t, int most)
{
    int room = most - (t->n_note - t->n_method), left = t->n_method - room, n = 0, next = 0;
    if (left <= 0 || t->n_method == 0)
        return;
    room = room > 0 ? room - 1 : 0; /* a line says how many there are */
    left = t->n_method - room;
    for (int i = 0; i < t->n_note; i++) {
        bool method = next < t->n_method && t->method[next] == i;
        next += method;
        if (!method || next <= room)
            t->note[n++] = t->note[i];
    }
    t->n_note = n;
    table_note(t, "%d more note%s on how this is computed: --notes", left, plural(left));
}

void table_note_refused(struct table *t, const struct pairs *p)
{
    int all = p->n + pairs_refused(p);
    for (int i = 0; i < REFUSALS; i++)
        if (p->refused[i])
            table_note(t, "%d of %d pairs refused: %s", p->refused[i], all, refusals[i].whole);
}

void table_note_rivals(struct table *t, const struct results *r)
{
    enum { SHOWN = 5 };
    for (int i = 0; i < r->n_rival && i < SHOWN; i++)
        table_note(t, "'%s' and '%s' are one cell with different bits: the first counts",
                   r->rival[i].counts->dir, r->rival[i].other->dir);
    if (r->n_rival > SHOWN)
        table_note(t, "and %d more cells that two directories have with different bits",
                   r->n_rival - SHOWN);
}

/* ---- seeds ---- */

bool table_one_n(const struct builder *b, const struct result_row *row)
{
    for (int l = 0; !b->o->cols && l < b->r->n_length; l++)
        if (row->at[l].n != row->at[0].n)
            return false;
    return true;
}

int table_seeds(const struct builder *b)
{
    int n = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        const struct result_row *row = &b->r->row[i];
        n = b->length >= 0 ? row->at[b->length].n : 0;
        if (n != row->n_cell - row->decided || n != b->r->row[0].at[b->length].n ||
            !table_one_n(b, row))
            return 0;
    }
    return n;
}

/* ---- JSON ---- */

void table_json(const struct table *t, struct json map)
{
    json_put_text(map, "title", t->title);
    json_put_int(map, "labels", t->n_label);
    json_put_int(map, "costs_from", t->first_cost ? t->first_cost : t->n_column);
    json_put_text(map, "strong", t->strong);
    struct json columns = json_put_list(map, "columns"), rows = json_put_list(map, "rows"),
                notes = json_put_list(map, "notes");
    for (int k = 0; k < t->n_column; k++) {
        struct json column = json_add_map(columns);
        json_put_text(column, "head", t->column[k].head);
        json_put_bool(column, "number", t->column[k].right);
    }
    for (int i = 0; i < t->n_row; i++) {
        struct json row = json_list(map.a);
        json_add(rows, row.v);
        for (int k = 0; k < t->n_column; k++) {
            const struct table_cell *c = &t->cell[(int64_t)i * t->n_column + k];
            struct json cell = json_add_map(row);
            json_put_text(cell, "text", c->text);
            if (*c->mark)
                json_put_text(cell, "mark", c->mark);
            if (c->strong)
                json_put_bool(cell, "strong", true);
        }
    }
    for (int i = 0; i < t->n_note; i++)
        json_add_text(notes, t->note[i]);
}
