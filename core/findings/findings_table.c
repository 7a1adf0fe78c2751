/* SPDX-License-Identifier: MIT */
/* findings_table.c: findings as a table, with a line for each row and a column for each requested
 * number; as CSV and as JSON, every number in full. */

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

/* ---- cells ---- */

static const char *cell_text(const struct sheet *s, const struct found_row *row,
                             const struct wanted *w)
{
    struct finding found[MEASURE_PARTS];
    const struct finding *one = NULL;
    int n = findings_of(s->f, row, w->measure, found);
    for (int i = 0; i < n; i++)
        one = found[i].part == w->part ? &found[i] : one;
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
    if (!columns)
        add_usual(&s);
    for (const char *word; (word = list_next(f->a, &columns, ','));)
        if (add_asked(&s, word, err) != PEAT_OK)
            return PEAT_INVALID;
    t->title = arena_printf(f->a,
                            "%s: what %d cell%s learned, mean ± 95 %% CI (Student t) over "
                            "n seeds",
                            f->r->experiment, f->n_cell, plural(f->n_cell));
    fill_table(&s);
    add_notes(&s);
    return PEAT_OK;
}

/* ---- CSV and JSON ---- */

static void put_summary(struct json map, const struct finding *one)
{
    json_put_int(map, "n", one->over.n);
    json_put_real(map, "mean", one->over.n ? one->over.mean : (double)NAN);
    json_put_real(map, "sd", one->over.sd);
    json_put_real(map, "ci_low", one->over.ci_low);
    json_put_real(map, "ci_high", one->over.ci_high);
    json_put_real(map, "chance", one->chance);
}

static void add_line(const struct findings *f, const struct found_row *row, const struct measure *m,
                     const struct finding *one, bool head, struct strbuf *out)
{
    struct json line = json_map(f->a);
    for (int i = 0; i < f->r->n_axis; i++)
        json_put_text(line, f->r->axis[i], row->row->axis[i]);
    json_put_text(line, "measure", m->name);
    json_put_text(line, "part", m->part ? m->part : "");
    if (one->part < 0)
        json_put_text(line, "at", "");
    else
        json_put_int(line, "at", one->part);
    put_summary(line, one);
    for (int i = 0; i < f->r->n_seed; i++) {
        double value = (double)NAN;
        for (int c = 0; c < row->row->n_cell; c++)
            value = row->row->cell[c]->seed == f->r->seed[i] ? one->value[c] : value;
        json_put_real(line, arena_printf(f->a, "seed %" PRId64, f->r->seed[i]), value);
    }
    csv_line(line.v, head, out);
}

void findings_csv(const struct findings *f, struct strbuf *out)
{
    struct finding found[MEASURE_PARTS];
    bool head = true;
    for (int i = 0; i < f->n_row; i++)
        for (const struct measure *m = measures; f->row[i].n && m->name; m++) {
            int n = findings_of(f, &f->row[i], m, found);
            for (int k = 0; k < n; k++) {
                add_line(f, &f->row[i], m, &found[k], head, out);
                head = false;
            }
        }
}

static void put_finding(const struct found_row *row, const struct measure *m,
                        const struct finding *one, struct json map)
{
    if (one->part >= 0)
        json_put_int(map, m->part, one->part);
    put_summary(map, one);
    struct json values = json_put_list(map, "values");
    for (int c = 0; c < row->row->n_cell; c++)
        if (row->tree[c])
            json_add_real(values, one->value[c]);
}

static void put_row(const struct findings *f, const struct found_row *row, struct json map)
{
    struct finding found[MEASURE_PARTS];
    json_put_text(map, "row", results_row_label(f->r, row->row, f->a));
    json_put_labels(map, f->r, row->row);
    struct json seeds = json_put_list(map, "seeds");
    for (int c = 0; c < row->row->n_cell; c++)
        if (row->tree[c])
            json_add_int(seeds, row->row->cell[c]->seed);
    struct json all = json_put_map(map, "measures");
    for (const struct measure *m = measures; m->name; m++) {
        int n = findings_of(f, row, m, found);
        struct json list = {f->a, NULL};
        if (n > 0 && m->list)
            list = json_put_list(all, m->name);
        for (int k = 0; k < n; k++)
            put_finding(row, m, &found[k],
                        m->list ? json_add_map(list) : json_put_map(all, m->name));
    }
}

void findings_json(const struct findings *f, struct json map)
{
    json_put_int(map, "version", 1);
    json_put_text(map, "experiment", f->r->experiment);
    struct json rows = json_put_list(map, "rows");
    for (int i = 0; i < f->n_row; i++)
        if (f->row[i].n)
            put_row(f, &f->row[i], json_add_map(rows));
    struct json left_out = json_put_list(map, "left_out");
    for (int i = 0; i < f->n_left_out; i++) {
        struct json one = json_add_map(left_out);
        json_put_text(one, "cell", f->left_out[i].cell);
        json_put_text(one, "why", f->left_out[i].why);
    }
}
