/* SPDX-License-Identifier: MIT */
/* plot_points.c: a point with its interval for each row of the figure, its seeds below it. */
#include <math.h>

#include "plotter.h"

enum { ROW = 26, TOP = 16, BOTTOM = 58, RIGHT = 24, WIDTH = 460 };

/* Blocks of the data file; columns are y, then mean, low and high, or one value. */
enum block { MEANS, SEEDS, CHANCE };

struct points points_new(struct plotter *p, int n)
{
    return (struct points){.n = n,
                           .label = ARENA_ARRAY(p->a, n, const char *),
                           .point = ARENA_ARRAY(p->a, n, struct seeds_point)};
}

/* A gap ends the blocks that may be empty, which gnuplot refuses. */
static void add_data(struct plotter *p, const struct points *x)
{
    const double below = 0.27, nan = (double)NAN;
    for (int i = 0; i < x->n; i++) {
        const struct seeds_point *at = &x->point[i];
        lines_add_interval(p, i, at->mean, at->low, at->high);
    }
    lines_end(p);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->point[i].n; k++)
            lines_add(p, i + below, x->point[i].seed[k], nan, nan);
    lines_add(p, nan, nan, nan, nan);
    lines_end(p);
    for (int i = 0; i < x->n && x->has_chance; i++)
        lines_add(p, i, x->point[i].chance, nan, nan);
    lines_add(p, nan, nan, nan, nan);
    lines_end(p);
}

void points_draw(struct plotter *p, const struct points *x)
{
    struct strbuf *out = &p->f->script;
    int left = plot_label_width(p, x->n, x->label, x->label_most) + 24;
    p->f->width = left + WIDTH + RIGHT;
    p->f->height = TOP + BOTTOM + ROW * (x->n < 3 ? 3 : x->n);
    plot_set_frame(p, (struct plot_frame){left, RIGHT, TOP, BOTTOM});
    add_data(p, x);
    strbuf_add(out, "set grid xtics ytics lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.03, graph 0.03, 0, 0\nset xlabel ");
    figure_quote(out, x->x_label);
    strbuf_add(out, "\n");
    plot_add_tics(p, 'y', x->n, x->label, x->label_most);
    strbuf_addf(out, "set yrange [%d.5:-0.5]\n%splot ", x->n - 1, x->setting ? x->setting : "");
    if (x->has_chance)
        strbuf_addf(out,
                    "data index %d using 2:1 with points pt 3 ps 0.9 lw 1.5 lc rgb '#888888', \\\n"
                    "  ",
                    CHANCE);
    strbuf_addf(out,
                "data index %d using 2:1 with points pt 7 ps 0.4 lc rgb '#999999', \\\n"
                "  data index %d using 2:1:3:4 with xerrorbars pt %d ps 1.1 lw 2 lc rgb '%s'\n",
                SEEDS, MEANS, x->shape, figure_colour(0));
}
