/* SPDX-License-Identifier: MIT */
/* plot_findings.c: a measure of what cells learned, by row, by layer or by the labels of an axis.
 */
#include "plot/plot_findings.h"

#include "plotter.h"
#include "report/selector.h"

enum { PLACES_MAX = MEASURE_PARTS };

struct drawing {
    struct plotter p;
    struct results shown; /* only the diagnosed rows */
    const struct findings *found;
    const struct found_row **row; /* [shown.n_row] */
    int *index;                   /* [shown.n_row] index of the row among all results */
    const struct measure *measure;
    int64_t part; /* the part that was asked for; -1: the measure has no parts, or all are drawn */
    bool by_part;
};

/* ---- numbers ---- */

static peat_status find_measure(struct drawing *d, const char *name)
{
    const char *at = strchr(name, '@');
    const char *own = at ? arena_printf(d->p.a, "%.*s", (int)(at - name), name) : name;
    d->measure = measure_find(own, "--figure", d->p.err);
    d->part = at ? strtoll(at + 1, NULL, 10) : -1;
    if (!d->measure)
        return PEAT_INVALID;
    if (at && !d->measure->list)
        return error_set(d->p.err, PEAT_INVALID, "--figure: %s is one number: without '@'", own);
    d->by_part = d->measure->list && !at;
    return PEAT_OK;
}

/* The number that is drawn for a row; NULL: none. */
static const struct finding *number_of(struct drawing *d, int row, struct finding *room)
{
    int n = findings_of(d->found, d->row[row], d->measure, room);
    for (int i = 0; i < n; i++)
        if (d->part < 0 || room[i].part == d->part)
            return room[i].over.n ? &room[i] : NULL;
    return NULL;
}

static void take_rows(struct drawing *d)
{
    const struct findings *f = d->found;
    struct finding room[MEASURE_PARTS];
    d->shown = *f->r;
    d->shown.n_row = 0;
    d->shown.row = ARENA_ARRAY(f->a, f->n_row, struct result_row);
    d->row = ARENA_ARRAY(f->a, f->n_row, const struct found_row *);
    d->index = ARENA_ARRAY(f->a, f->n_row, int);
    for (int i = 0; i < f->n_row; i++) {
        d->row[d->shown.n_row] = &f->row[i];
        d->index[d->shown.n_row] = (int)(f->row[i].row - f->r->row);
        if (f->row[i].n && number_of(d, d->shown.n_row, room))
            d->shown.row[d->shown.n_row++] = *f->row[i].row;
    }
}

static const char *measure_label(struct drawing *d, bool chance)
{
    const char *part =
        d->part >= 0 ? arena_printf(d->p.a, ", %s %" PRId64, d->measure->part, d->part) : "";
    return arena_printf(d->p.a, "%s%s%s", d->measure->head, part,
                        chance ? " (grey: by chance)" : "");
}

/* ---- a point for each row ---- */

static void draw_points(struct drawing *d)
{
    struct plotter *p = &d->p;
    struct finding *room = ARENA_ARRAY(p->a, MEASURE_PARTS, struct finding);
    struct points x = points_new(p, d->shown.n_row);
    for (int i = 0; i < x.n; i++) {
        const struct finding *one = number_of(d, i, room);
        const struct result_row *row = &d->shown.row[i];
        x.label[i] = results_row_label(&d->shown, row, p->a);
        x.row[i] = d->index[i];
        x.point[i] = (struct seeds_point){one->over.mean, one->over.ci_low, one->over.ci_high,
                                          row->n_cell,    one->value,       one->chance};
        x.has_chance = x.has_chance || isfinite(one->chance);
    }
    x.x_label = measure_label(d, x.has_chance);
    points_draw(p, &x);
}

/* ---- lines ---- */

/* The places along the bottom: at least one, since each row that is shown has a number. */
struct places {
    int n;
    struct tic {
        double x, chance, chances; /* chance: sum of so many chances */
        const char *label;
    } item[PLACES_MAX];
};

/* Places are in ascending order. */
static struct tic *place_at(struct places *at, double x, const char *label)
{
    int i = 0;
    while (i < at->n && at->item[i].x < x)
        i++;
    if ((i < at->n && at->item[i].x == x) || at->n == PLACES_MAX)
        return &at->item[i < PLACES_MAX ? i : PLACES_MAX - 1];
    for (int k = at->n++; k > i; k--)
        at->item[k] = at->item[k - 1];
    at->item[i] = (struct tic){.x = x, .label = label};
    return &at->item[i];
}

static void add_place(struct drawing *d, struct places *at, double x, const char *label,
                      const char *line, const struct finding *one)
{
    struct tic *tic = place_at(at, x, label);
    if (isfinite(one->chance)) {
        tic->chance += one->chance;
        tic->chances++;
    }
    lines_add_interval(&d->p, x, one->over.mean, one->over.ci_low, one->over.ci_high, line, label);
}

/* Adds a block; returns whether anything in it is drawn. */
static bool add_chance(struct drawing *d, struct places *at)
{
    bool any = false;
    for (int i = 0; i < at->n; i++) {
        const struct tic *tic = &at->item[i];
        double chance = tic->chances > 0.0 ? tic->chance / tic->chances : (double)NAN;
        any = any || isfinite(chance);
        lines_add(&d->p, tic->x, chance, (double)NAN, (double)NAN, NULL);
    }
    lines_end(&d->p);
    return any;
}

static void add_places(const struct plotter *p, const struct places *at, struct strbuf *setting)
{
    double low = at->item[0].x, high = at->item[at->n - 1].x;
    strbuf_add(setting, "set xtics (");
    for (int i = 0; i < at->n; i++) {
        strbuf_add(setting, i ? ", " : "");
        figure_quote(setting, at->item[i].label);
        strbuf_addf(setting, " %.10g", at->item[i].x);
    }
    double margin = high > low ? 0.06 * (high - low) : 0.5;
    strbuf_addf(setting, ")\nset xrange [%.10g:%.10g]\n", low - margin, high + margin);
    plot_set_y_range(p, p->high, setting);
}

static void draw_lines(struct drawing *d, const struct series_set *s, struct places *at,
                       const int *row, const char *x_label)
{
    struct strbuf setting = STRBUF_NEW;
    int n = d->p.r->n_row;
    bool chance = add_chance(d, at);
    const char *grey =
        arena_printf(d->p.a, "data index %d using 1:2 with lines dt 2 lw 1.5 lc rgb '#888888'", n);
    add_places(&d->p, at, &setting);
    lines_draw(&d->p, s,
               &(struct lines){.x_label = x_label,
                               .y_label = measure_label(d, chance),
                               .setting = setting.text,
                               .point_every = 1,
                               .row = row,
                               .x_low = at->item[0].x,
                               .x_high = at->item[at->n - 1].x,
                               .also = chance ? grey : NULL});
    strbuf_release(&setting);
}

static void draw_parts(struct drawing *d)
{
    struct places *at = ARENA_NEW(d->p.a, struct places);
    struct finding found[MEASURE_PARTS];
    struct series_set s;
    series_find(&d->p, &s);
    for (int i = 0; i < d->shown.n_row; i++) {
        int n = findings_of(d->found, d->row[i], d->measure, found);
        const char *label = results_row_label(&d->shown, &d->shown.row[i], d->p.a);
        for (int k = 0; k < n; k++)
            if (found[k].over.n)
                add_place(d, at, (double)found[k].part,
                          arena_printf(d->p.a, "%" PRId64, found[k].part), label, &found[k]);
        lines_end_gap(&d->p);
    }
    const char *of = strcmp(d->measure->part, "layer") != 0 ? "first dimension of the block"
                     : strcmp(d->measure->diagnostic, "logits") == 0 ||
                             strcmp(d->measure->diagnostic, "attention") == 0
                         ? "layer"
                         : "blocks passed";
    draw_lines(d, &s, at, d->index, of);
}

/* ---- over an axis ---- */

/* The place of a label: its number where all labels of the axis are numbers, else its index. */
static double place_of(struct plotter *p, int axis, const char *label)
{
    const struct results *r = p->r;
    const char **seen = ARENA_ARRAY(p->a, r->n_row, const char *);
    bool numbers = true;
    int n = 0, at = 0;
    for (int i = 0; i < r->n_row; i++) {
        char *end;
        const char *own = r->row[i].axis[axis];
        double x = strtod(own, &end);
        numbers = numbers && end > own && !*end && isfinite(x);
        int k = plot_number_of(seen, &n, own);
        if (strcmp(own, label) == 0)
            at = k;
    }
    return numbers ? strtod(label, NULL) : (double)at;
}

/* Draws a line for rows that differ only on this axis. */
static peat_status draw_over(struct drawing *d, const char *over)
{
    struct plotter *p = &d->p;
    const struct results *r = p->r;
    int axis = selector_axis(r, over), n = 0;
    if (axis < 0)
        return selector_no_axis(r, "--over", over, p->a, p->err);
    bool is_over[EXPERIMENT_MAX_AXES] = {false};
    is_over[axis] = true;
    struct places *at = ARENA_NEW(p->a, struct places);
    struct finding room[MEASURE_PARTS];
    const char **line = ARENA_ARRAY(p->a, r->n_row, const char *);
    int *line_of = ARENA_ARRAY(p->a, r->n_row, int), *self = ARENA_ARRAY(p->a, r->n_row, int);
    int *none = ARENA_ARRAY(p->a, r->n_row, int); /* a line shows several rows */
    for (int i = 0; i < r->n_row; i++)
        line_of[i] = plot_number_of(line, &n, plot_labels_of(p, &r->row[i], is_over, false));
    for (int k = 0; k < n; k++) {
        self[k] = k;
        none[k] = -1;
        for (int i = 0; i < r->n_row; i++) {
            const struct finding *one = line_of[i] == k ? number_of(d, i, room) : NULL;
            const char *label = r->row[i].axis[axis];
            if (one)
                add_place(d, at, place_of(p, axis, label), label, line[k], one);
        }
        lines_end_gap(&d->p);
    }
    d->shown.n_row = n;
    const struct series_set s = {.n_series = n,
                                 .series = line,
                                 .series_of = self,
                                 .n_panel = 1,
                                 .panel = (const char *[]){""},
                                 .panel_row = self};
    draw_lines(d, &s, at, none, results_axis_name(r, axis));
    return PEAT_OK;
}

peat_status plot_findings(struct figure *f, const struct findings *found,
                          const struct findings_figure *o, struct error *err)
{
    const struct plot_options options = {.length = -1, .lines = o->lines, .panels = o->panels};
    struct drawing d = {.found = found,
                        .p = {f, found->r, &options, .a = found->a, .err = err, .low = (double)NAN,
                              .high = (double)NAN}};
    figure_init(f, 0, 0);
    peat_status status = find_measure(&d, o->measure);
    if (status == PEAT_OK)
        status = plot_find_roles(&d.p);
    if (status != PEAT_OK)
        return status;
    take_rows(&d);
    d.p.r = &d.shown;
    if (d.shown.n_row == 0)
        return error_set(err, PEAT_INVALID, "no diagnosed row has a number for '%s'", o->measure);
    strbuf_add(&f->script, "set datafile missing 'NaN'\nset tics nomirror\nset border 3\n");
    if (d.by_part && o->over)
        return error_set(err, PEAT_INVALID, "--over: which %s of %s? '%s@0' is the first",
                         d.measure->part, d.measure->name, d.measure->name);
    if (o->over)
        return draw_over(&d, o->over);
    if (d.by_part)
        draw_parts(&d);
    else
        draw_points(&d);
    return PEAT_OK;
}
