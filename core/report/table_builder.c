/* SPDX-License-Identifier: MIT */
/* table_builder.c: what the parts of a table share: axes by name, cells, notes. */
#include "table_builder.h"

#include <math.h>
#include <string.h>

#include "report/numbers.h"
#include "report/selector.h"

peat_status builder_axis(struct builder *b, const char *option, const char *name, size_t n,
                         int *axis)
{
    *axis = selector_axis(b->r, name, n);
    if (*axis >= 0)
        return PEAT_OK;
    return selector_no_axis(b->r, option, arena_printf(b->a, "%.*s", (int)n, name), b->err);
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
    if (p->other_stop)
        table_note(t,
                   "%d of %d pairs refused: one stops early (train.patience), the other is trained "
                   "to its last step; --mix-stopped compares them",
                   p->other_stop, all);
    if (p->other_task)
        table_note(t, "%d of %d pairs refused: different tasks, metrics or objectives",
                   p->other_task, all);
    if (p->other_batches)
        table_note(t, "%d of %d pairs refused: different batches", p->other_batches, all);
    if (p->other_init)
        table_note(t,
                   "%d of %d pairs refused: different initial values in weights of the same shape",
                   p->other_init, all);
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

/* x and what --err puts behind it. */
static const char *spread_text(struct builder *b, double x, double sd, double ci_half, int n,
                               bool with_sign)
{
    const double spread[] = {[SPREAD_CI] = ci_half, [SPREAD_SD] = sd, [SPREAD_SE] = sd / sqrt(n)};
    struct strbuf out;
    strbuf_init(&out);
    number_spread(&out, x, spread[b->o->err], b->o->digits > 0 ? b->o->digits : 2, with_sign);
    return strbuf_keep(&out, b->a);
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
    return table_plain(
        spread_text(b, s->diff, s->diff_sd, s->diff_ci_high - s->diff, s->pairs.n, true));
}
