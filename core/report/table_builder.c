/* SPDX-License-Identifier: MIT */
/* table_builder.c: helpers that the parts of a table share: axes by name, cells, notes. */
#include "table_builder.h"

#include "report/numbers.h"
#include "report/selector.h"

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

/* ---- cells ---- */

struct table_cell table_number(struct arena *a, const char *fmt, double x)
{
    const double longest = 1e9;
    bool is_long = isfinite(x) && fabs(x) >= longest;
    fmt = !is_long ? fmt : strchr(fmt, '+') ? "%+.2e" : "%.2e";
    return table_plain(isfinite(x) ? arena_printf(a, fmt, x) : "-");
}

static const char *spread_text(struct builder *b, double x, double sd, double ci_half, int n,
                               bool with_sign)
{
    const double spread[] = {[SPREAD_CI] = ci_half, [SPREAD_SD] = sd, [SPREAD_SE] = sd / sqrt(n)};
    return number_spread(b->a, x, spread[b->o->err], b->o->digits > 0 ? b->o->digits : 2,
                         with_sign);
}

struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length)
{
    const struct summary *s = &row->at[length];
    bool strong = row->best[length] && b->r->n_row > 1;
    b->t->any_strong = b->t->any_strong || strong;
    return (struct table_cell){spread_text(b, s->mean, s->sd, s->ci_high - s->mean, s->n, false),
                               s->untrained && row->drifted ? "ud"
                               : s->untrained               ? "u"
                               : row->drifted               ? "d"
                                                            : "",
                               strong};
}

struct table_cell table_diff_cell(struct builder *b, const struct result_row *row)
{
    const struct summary *s = &row->at[b->length];
    if (row->baseline == (int)(row - b->r->row))
        return table_plain("baseline");
    if (s->pairs.n == 0 && pairs_refused(&s->pairs))
        return table_plain("unpaired");
    const struct difference *d = &s->diff;
    return table_plain(spread_text(b, d->mean, d->sd, d->ci_high - d->mean, d->n, true));
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
