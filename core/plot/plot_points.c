/* SPDX-License-Identifier: MIT */
/* plot_points.c: a point with its interval for each row of the figure, its seeds below it. */

#include "plotter.h"

enum { ROW = 26, TOP = 16, TITLE = 24, BOTTOM = 58, RIGHT = 24, WIDTH = 460 };

/* Blocks of the data file; columns are y, then mean, low and high, or one value. */
enum block { MEANS, SEEDS, CHANCE };

struct points points_new(struct plotter *p, int n)
{
    struct points x = {.n = n,
                       .label = ARENA_ARRAY(p->a, n, const char *),
                       .row = ARENA_ARRAY(p->a, n, int),
                       .point = ARENA_ARRAY(p->a, n, struct seeds_point)};
    for (int i = 0; i < n; i++)
        x.row[i] = -1;
    return x;
}

static void add_value(struct plotter *p, const struct points *x, int i, double y, double value,
                      const char *kind)
{
    const double nan = (double)NAN;
    lines_add(p, y, value, nan, nan, plot_said(p, x->label[i], kind, value, nan, nan));
}

/* Ends a block that may be empty with a gap, because gnuplot refuses empty blocks. */
static void add_data(struct plotter *p, const struct points *x)
{
    const double below = 0.27;
    for (int i = 0; i < x->n; i++) {
        const struct seeds_point *at = &x->point[i];
        lines_add_interval(p, i, at->mean, at->low, at->high, x->label[i], "");
    }
    lines_end(p);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->point[i].n; k++)
            add_value(p, x, i, i + below, x->point[i].seed[k], "one seed");
    lines_end_gap(p);
    for (int i = 0; i < x->n && x->has_chance; i++)
        add_value(p, x, i, i, x->point[i].chance, "by chance");
    lines_end_gap(p);
}

/* Draws the points of each row as an element of its own, so that a page can hide them. The integer
 * part of the first column is the row. */
static void add_rows(struct plotter *p, const struct points *x, enum block block,
                     const char *columns, const char *style, bool first)
{
    for (int i = 0; i < x->n; i++)
        figure_element(p->f, x->row[i]);
    strbuf_addf(&p->f->script,
                "%s for [i=0:%d] data index %d using (floor($1)==i?$2:NaN):%s with %s",
                first ? "plot" : ", \\\n ", x->n - 1, block, columns, style);
}

void points_draw(struct plotter *p, const struct points *x)
{
    struct strbuf *out = &p->f->script;
    int left = plot_label_width(p, x->n, x->label, x->label_most) + 24;
    int top = x->title ? TOP + TITLE : TOP;
    p->f->width = left + WIDTH + RIGHT;
    p->f->height = top + BOTTOM + ROW * (x->n < 3 ? 3 : x->n);
    plot_set_frame(p, (struct plot_frame){left, RIGHT, top, BOTTOM});
    add_data(p, x);
    strbuf_add(out, "set grid xtics ytics lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.03, graph 0.03, 0, 0\n");
    if (x->title)
        figure_set(out, "title", x->title, "");
    strbuf_add(out, "\n");
    figure_set(out, "xlabel", x->x_label, "\n");
    plot_add_tics(p, 'y', x->n, x->label, x->label_most);
    strbuf_addf(out, "set yrange [%d.5:-0.5]\n%s", x->n - 1, x->setting ? x->setting : "");
    add_rows(p, x, SEEDS, "1", "points pt 7 ps 0.4 lc rgb '#999999'", true);
    if (x->has_chance)
        add_rows(p, x, CHANCE, "1", "points pt 3 ps 0.9 lw 1.5 lc rgb '#888888'", false);
    add_rows(
        p, x, MEANS, "1:3:4",
        arena_printf(p->a, "xerrorbars pt %d ps 1.1 lw 2 lc rgb '%s'", x->shape, figure_colour(0)),
        false);
    add_rows(p, x, SEEDS, "1:5", PLOT_SAID, false);
    add_rows(p, x, MEANS, "1:5", PLOT_SAID, false);
    strbuf_add(out, "\n");
}
