/* SPDX-License-Identifier: MIT */
/* findings_table.c: a table with a line for each row and a column for each requested number. */

#include "findings/findings.h"
#include "report/numbers.h"

enum { COLUMNS_MAX = 96 };

/* A column: one number of every row. */
struct wanted {
    const struct measure *measure;
    int64_t part; /* as in struct finding */
    const char *head;
};

struct sheet {
    const struct findings *f;
    struct table *t;
    int n;
    struct wanted wanted[COLUMNS_MAX];
};

static const struct finding *find_part(const struct finding *list, int n, int64_t part)
{
    for (int i = 0; i < n; i++)
        if (list[i].part == part)
            return &list[i];
    return NULL;
}

/* ---- choosing columns ---- */

static void add_wanted(struct sheet *s, const struct measure *m, int64_t part)
{
    struct arena *a = s->f->a;
    const char *head = part < 0 ? m->head : arena_printf(a, "%s @%" PRId64, m->head, part);
    if (m->chance)
        head = arena_printf(a, "%s (by chance)", head);
    if (s->n < COLUMNS_MAX)
        s->wanted[s->n++] = (struct wanted){m, part, head};
}

/* The parts of the row that has the most. */
static int list_parts(const struct findings *f, const struct measure *m, int64_t *part)
{
    struct finding found[MEASURE_PARTS];
    int most = 0;
    for (int i = 0; i < f->n_row; i++) {
        int n = f->row[i].n ? findings_of(f, &f->row[i], m, found) : 0, finite = 0;
        for (int k = 0; k < n; k++)
            finite += found[k].over.n > 0;
        if (finite <= most)
            continue;
        most = 0;
        for (int k = 0; k < n; k++)
            if (found[k].over.n > 0)
                part[most++] = found[k].part;
    }
    return most;
}

static void add_usual(struct sheet *s)
{
    int64_t part[MEASURE_PARTS];
    for (const struct measure *m = measures; m->name; m++) {
        int n = m->usual ? list_parts(s->f, m, part) : 0;
        if (n > 0)
            add_wanted(s, m, part[0]);
        if (n > 1 && strcmp(m->diagnostic, "logits") != 0)
            add_wanted(s, m, part[n - 1]);
    }
}

/* "position_r2@0", or "position_r2" for all its parts. */
static peat_status add_asked(struct sheet *s, const char *word, struct error *err)
{
    int64_t part[MEASURE_PARTS];
    const char *at = strchr(word, '@');
    const char *name = at ? arena_printf(s->f->a, "%.*s", (int)(at - word), word) : word;
    const struct measure *m = measure_find(name, "--columns", err);
    if (!m)
        return PEAT_INVALID;
    int n = list_parts(s->f, m, part);
    bool any = false;
    for (int i = 0; i < n; i++) {
        const char *own = arena_printf(s->f->a, "%" PRId64, part[i]);
        if (at && strcmp(own, at + 1) != 0)
            continue;
        add_wanted(s, m, part[i]);
        any = true;
    }
    if (any || (n == 0 && !at))
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "--columns: no diagnosed row has '%s'%s", word,
                     m->part ? arena_printf(s->f->a, "; %s has a %s behind '@'", name, m->part)
                             : "");
}

static peat_status choose_columns(struct sheet *s, const char *columns, struct error *err)
{
    if (!columns)
        add_usual(s);
    for (const char *word; (word = list_next(s->f->a, &columns, ','));)
        if (add_asked(s, word, err) != PEAT_OK)
            return PEAT_INVALID;
    return PEAT_OK;
}

/* ---- cells ---- */

static const char *cell_text(const struct sheet *s, const struct found_row *row,
                             const struct wanted *w)
{
    struct finding found[MEASURE_PARTS];
    const struct finding *one =
        find_part(found, findings_of(s->f, row, w->measure, found), w->part);
    if (!one || one->over.n == 0)
        return "-";
    const double rounding = 1e-9; /* smaller numbers and intervals are rounding */
    double x = one->over.mean, half = one->over.ci_high - x;
    const char *text =
        number_interval(s->f->a, fabs(x) < rounding ? 0.0 : x, half < rounding ? 0.0 : half, false);
    double chance = fabs(one->chance) < 1e-6 ? 0.0 : one->chance;
    return isfinite(chance) ? arena_printf(s->f->a, "%s (%.3g)", text, chance) : text;
}

static void add_row(const struct sheet *s, const struct found_row *row)
{
    const struct results *r = s->f->r;
    for (int i = 0; i < r->n_axis; i++)
        table_text(s->t, row->row->axis[i]);
    if (r->n_axis == 0)
        table_text(s->t, "-");
    table_text(s->t, arena_printf(s->f->a, "%d", row->n));
    for (int i = 0; i < s->n; i++)
        table_text(s->t, cell_text(s, row, &s->wanted[i]));
}

static void fill_table(const struct sheet *s)
{
    const struct findings *f = s->f;
    s->t->n_label = f->r->n_axis ? f->r->n_axis : 1;
    for (int i = 0; i < s->t->n_label; i++)
        table_column(s->t, f->r->n_axis ? results_axis_name(f->r, i) : "row", false);
    table_column(s->t, "n", true);
    for (int i = 0; i < s->n; i++)
        table_column(s->t, s->wanted[i].head, true);
    for (int i = 0; i < f->n_row; i++)
        if (f->row[i].n)
            add_row(s, &f->row[i]);
}

static void add_left_out(const struct sheet *s)
{
    const struct findings *f = s->f;
    const char **why = ARENA_ARRAY(f->a, f->n_left_out + 1, const char *);
    for (int i = 0; i < f->n_left_out; i++)
        why[i] = f->left_out[i].why;
    for (int i = 0; i < f->n_left_out; i++) {
        int times = times_said(why, f->n_left_out, i);
        if (times)
            table_note(s->t, "left out: %s: %s",
                       name_and_more(f->a, f->left_out[i].cell, "cell", times), why[i]);
    }
}

static void add_notes(const struct sheet *s)
{
    bool by_layer = false;
    for (int i = 0; i < s->n; i++) {
        const struct wanted *w = &s->wanted[i];
        by_layer = by_layer || w->part >= 0;
        if (i == 0 || s->wanted[i - 1].measure != w->measure)
            table_note(s->t, "%s: %s", w->measure->head, w->measure->meaning);
    }
    if (by_layer)
        table_note(s->t, "@: the layer; of probes and reordering, blocks passed (0: the input)");
    add_left_out(s);
}

peat_status findings_table(struct table *t, const struct findings *f, const char *columns,
                           struct error *err)
{
    struct sheet s = {.f = f, .t = t};
    *t = (struct table){.arena = f->a};
    peat_status status = choose_columns(&s, columns, err);
    if (status != PEAT_OK)
        return status;
    t->title = arena_printf(f->a,
                            "%s: what %d cell%s learned, mean ± 95 %% CI (Student t) over "
                            "n seeds",
                            f->r->experiment, f->n_cell, plural(f->n_cell));
    fill_table(&s);
    add_notes(&s);
    return PEAT_OK;
}
