/* SPDX-License-Identifier: MIT */
/* plot_series.c: chooses the rows that share a colour, and the rows of a panel. */

#include "plotter.h"
#include "report/selector.h"

static int count_labels(struct plotter *p, int axis)
{
    const char **label = ARENA_ARRAY(p->a, p->r->n_row, const char *);
    int n = 0;
    for (int i = 0; i < p->r->n_row; i++)
        plot_number_of(label, &n, p->r->row[i].axis[axis]);
    return n;
}

/* The axis for colours: the scheme, or else the axis with the most labels. */
static int choose_axis(struct plotter *p)
{
    const struct results *r = p->r;
    int best = 0;
    for (int i = 0; i < r->n_axis; i++) {
        if (strcmp(r->axis[i], "position.scheme") == 0)
            return i;
        if (count_labels(p, i) > count_labels(p, best))
            best = i;
    }
    return best;
}

static bool any_axis(const struct plotter *p, enum axis_role role)
{
    for (int i = 0; i < p->r->n_axis; i++)
        if (p->role[i] == role)
            return true;
    return false;
}

/* Axes without an option make panels if only lines are given, otherwise lines. Without any option
 * few rows have no panels, and many rows have a line for each scheme. */
static void choose_panels(struct plotter *p, struct series_set *s)
{
    enum { ROWS_TOGETHER = 7 };
    const struct results *r = p->r;
    bool lines = any_axis(p, AXIS_LINES), panels = any_axis(p, AXIS_PANELS);
    if (!lines && !panels && (r->n_row <= ROWS_TOGETHER || r->n_axis < 2))
        return;
    int line = lines || panels ? -1 : choose_axis(p);
    for (int i = 0; i < r->n_axis; i++) {
        bool free_one = p->role[i] == AXIS_FREE && !panels && i != line;
        s->makes_panel[i] = p->role[i] == AXIS_PANELS || free_one;
        s->panelled = s->panelled || s->makes_panel[i];
    }
}

static void find_series(struct plotter *p, struct series_set *s)
{
    const struct results *r = p->r;
    s->series = ARENA_ARRAY(p->a, r->n_row, const char *);
    s->series_of = ARENA_ARRAY(p->a, r->n_row, int);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        const char *label = s->panelled ? plot_labels_of(p, row, s->makes_panel, false)
                                        : results_row_label(r, row, p->a);
        s->series_of[i] = plot_number_of(s->series, &s->n_series, label);
    }
}

/* Whether the panel of row x shows row y too: "-" as a combine goes with any label. */
static bool shows(const struct results *r, const struct series_set *s, const struct result_row *x,
                  const struct result_row *y)
{
    for (int i = 0; i < r->n_axis; i++)
        if (s->makes_panel[i] && !axis_labels_agree(r->axis[i], x->axis[i], y->axis[i]))
            return false;
    return true;
}

static int count_dashes(const struct results *r, const struct series_set *s,
                        const struct result_row *row)
{
    int n = 0;
    for (int i = 0; i < r->n_axis; i++)
        n += s->makes_panel[i] && strcmp(row->axis[i], "-") == 0;
    return n;
}

/* Whether a more specific panel shows the row too, so that the row needs none of its own. */
static bool has_host(const struct results *r, const struct series_set *s, int row)
{
    for (int i = 0; i < r->n_row; i++)
        if (shows(r, s, &r->row[i], &r->row[row]) &&
            count_dashes(r, s, &r->row[i]) < count_dashes(r, s, &r->row[row]))
            return true;
    return false;
}

void series_find(struct plotter *p, struct series_set *s)
{
    *s = (struct series_set){.panelled = false};
    choose_panels(p, s);
    series_make(p, s);
}

void series_make(struct plotter *p, struct series_set *s)
{
    const struct results *r = p->r;
    find_series(p, s);
    s->panel = ARENA_ARRAY(p->a, r->n_row + 1, const char *);
    int *first = ARENA_ARRAY(p->a, r->n_row, int);
    s->panel_row = first;
    if (!s->panelled) {
        s->panel[s->n_panel++] = "";
        return;
    }
    for (int i = 0; i < r->n_row; i++) {
        if (has_host(r, s, i) || series_own_panel(p, s, i) >= 0)
            continue;
        first[s->n_panel] = i;
        s->panel[s->n_panel++] = plot_labels_of(p, &r->row[i], s->makes_panel, true);
    }
}

int series_own_panel(const struct plotter *p, const struct series_set *s, int row)
{
    const struct result_row *all = p->r->row;
    for (int k = 0; k < s->n_panel; k++)
        if (labels_alike(p->r->n_axis, all[s->panel_row[k]].axis, all[row].axis, s->makes_panel,
                         true))
            return k;
    return -1;
}

bool series_in_panel(const struct plotter *p, const struct series_set *s, int row, int panel)
{
    return !s->panelled || shows(p->r, s, &p->r->row[s->panel_row[panel]], &p->r->row[row]);
}
