/* SPDX-License-Identifier: MIT */
/* plot_series.c: which rows share a colour, and which stand in a panel. */
#include <string.h>

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

/* The scheme, else the axis with most labels. Few rows need no panels. */
static int choose_axis(struct plotter *p)
{
    enum { ROWS_TOGETHER = 7 };
    const struct results *r = p->r;
    int best = 0;
    if (r->n_row <= ROWS_TOGETHER || r->n_axis < 2)
        return -1;
    for (int i = 0; i < r->n_axis; i++) {
        if (strcmp(r->axis[i], "position.scheme") == 0)
            return i;
        if (count_labels(p, i) > count_labels(p, best))
            best = i;
    }
    return best;
}

static void find_series(struct plotter *p, struct series_set *s)
{
    const struct results *r = p->r;
    s->series = ARENA_ARRAY(p->a, r->n_row, const char *);
    s->series_of = ARENA_ARRAY(p->a, r->n_row, int);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        const char *label =
            s->colour_axis < 0 ? results_row_label(r, row, p->a) : row->axis[s->colour_axis];
        s->series_of[i] = plot_number_of(s->series, &s->n_series, label);
    }
}

/* The axes that are not colours agree; loosely: "-" as a combine goes with any. */
static bool same_panel(const struct results *r, int colour_axis, const struct result_row *x,
                       const struct result_row *y, bool loosely)
{
    for (int i = 0; i < r->n_axis; i++) {
        if (i == colour_axis)
            continue;
        if (loosely ? !selector_same(r, i, x->axis[i], y->axis[i])
                    : strcmp(x->axis[i], y->axis[i]) != 0)
            return false;
    }
    return true;
}

static int count_dashes(const struct results *r, const struct result_row *row)
{
    int n = 0;
    for (int i = 0; i < r->n_axis; i++)
        n += strcmp(row->axis[i], "-") == 0;
    return n;
}

/* Nothing is lost without a panel of its own: another one, more definite, shows the row too. */
static bool has_host(const struct results *r, int colour_axis, int row)
{
    for (int i = 0; i < r->n_row; i++)
        if (same_panel(r, colour_axis, &r->row[i], &r->row[row], true) &&
            count_dashes(r, &r->row[i]) < count_dashes(r, &r->row[row]))
            return true;
    return false;
}

void series_find(struct plotter *p, struct series_set *s)
{
    const struct results *r = p->r;
    *s = (struct series_set){.colour_axis = choose_axis(p)};
    find_series(p, s);
    s->panel = ARENA_ARRAY(p->a, r->n_row + 1, const char *);
    int *first = ARENA_ARRAY(p->a, r->n_row, int);
    if (s->colour_axis < 0) {
        s->panel[s->n_panel++] = "";
        s->panel_row = first;
        return;
    }
    for (int i = 0; i < r->n_row; i++) {
        bool seen = has_host(r, s->colour_axis, i);
        for (int k = 0; k < s->n_panel && !seen; k++)
            seen = same_panel(r, s->colour_axis, &r->row[first[k]], &r->row[i], false);
        if (seen)
            continue;
        first[s->n_panel] = i;
        s->panel[s->n_panel++] = plot_other_labels(p, &r->row[i], s->colour_axis);
    }
    s->panel_row = first;
}

bool series_in_panel(const struct plotter *p, const struct series_set *s, int row, int panel)
{
    return s->colour_axis < 0 ||
           same_panel(p->r, s->colour_axis, &p->r->row[s->panel_row[panel]], &p->r->row[row], true);
}
