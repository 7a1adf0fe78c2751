/* SPDX-License-Identifier: MIT */
/* plot_lines.c: lines with bands, in one panel or several beside one legend; a metric against the
 * length that it was evaluated at. */

#include "plotter.h"

enum { LEFT = 92, TOP = 34, BOTTOM = 58, GAP_X = 56, GAP_Y = 76, RIGHT = 20 };

void lines_add(struct plotter *p, double x, double mean, double low, double high, const char *said)
{
    struct strbuf *out = &p->f->data;
    const double column[] = {x, mean, low, high};
    for (int i = 0; i < 4; i++) {
        strbuf_add(out, i ? " " : "");
        figure_number(out, column[i]);
    }
    strbuf_add(out, " ");
    figure_text(out, said ? said : "");
    strbuf_add(out, "\n");
    p->any = p->any || (isfinite(x) && isfinite(mean));
    p->low = fmin(p->low, isnan(low) ? mean : low);
    p->high = fmax(p->high, isnan(high) ? mean : high);
}

void lines_add_interval(struct plotter *p, double x, double mean, double low, double high,
                        const char *who, const char *where)
{
    bool interval = isfinite(low);
    lines_add(p, x, mean, interval ? low : mean, interval ? high : mean,
              plot_said(p, who, where, mean, low, high));
}

void lines_end(struct plotter *p)
{
    strbuf_add(&p->f->data, "\n\n");
    *ARENA_APPEND(p->a, p->has_value, p->n_block, p->block_room) = p->any;
    p->any = false;
}

void lines_end_gap(struct plotter *p)
{
    lines_add(p, (double)NAN, (double)NAN, (double)NAN, (double)NAN, NULL);
    lines_end(p);
}

struct sheet {
    int across, down, width, height;
};

static struct sheet lay_out(struct plotter *p, const struct series_set *s)
{
    struct sheet t = {.across = s->n_panel == 1 ? 1 : s->n_panel <= 4 ? 2 : 3};
    t.down = (s->n_panel + t.across - 1) / t.across;
    t.width = s->n_panel == 1 ? 520 : t.across == 2 ? 330 : 250;
    t.height = s->n_panel == 1 ? 340 : 220;
    int legend = plot_legend_width(p, s->n_series, s->series);
    p->f->width = LEFT + RIGHT + legend + t.across * t.width + (t.across - 1) * GAP_X;
    p->f->height = TOP + BOTTOM + t.down * t.height + (t.down - 1) * GAP_Y;
    int tall = TOP + plot_legend_height(s->n_series);
    p->f->height = p->f->height < tall ? tall : p->f->height;
    return t;
}

static void place_panel(struct plotter *p, const struct sheet *t, int panel)
{
    int column = panel % t->across, row = panel / t->across;
    struct plot_frame m = {.left = LEFT + column * (t->width + GAP_X),
                           .top = TOP + row * (t->height + GAP_Y)};
    m.right = p->f->width - m.left - t->width;
    m.bottom = p->f->height - m.top - t->height;
    plot_set_frame(p, m);
}

/* Bands are drawn first, so that they hide no line; texts for hover are last. */
static void draw_rows(struct plotter *p, const struct series_set *s, const struct lines *l,
                      int panel)
{
    struct strbuf *out = &p->f->script;
    strbuf_add(out, "plot \\\n");
    for (int i = 0; i < p->r->n_row; i++) {
        if (!series_in_panel(p, s, i, panel))
            continue;
        figure_element(p->f, l->row ? l->row[i] : i);
        strbuf_addf(out,
                    "  data index %d using 1:3:4 with filledcurves lc rgb '%s' fs transparent "
                    "solid 0.14 noborder, \\\n",
                    i, figure_colour(s->series_of[i]));
    }
    for (int i = 0; i < p->r->n_row; i++) {
        if (!series_in_panel(p, s, i, panel))
            continue;
        figure_element(p->f, l->row ? l->row[i] : i);
        strbuf_addf(out, "  data index %d using 1:2 with linespoints pi %d lw 2 ps 0.8", i,
                    l->point_every);
        plot_add_style(out, s->series_of[i]);
        strbuf_add(out, ", \\\n");
    }
    for (int i = 0; i < p->r->n_row; i++) {
        if (!p->has_value[i] || !series_in_panel(p, s, i, panel))
            continue;
        strbuf_add(out, "  ");
        plot_add_said(p, i, l->row ? l->row[i] : i);
        strbuf_add(out, ", \\\n");
    }
    figure_element(p->f, -1);
    strbuf_addf(out, "  %s\n", l->also ? l->also : "NaN");
}

/* gnuplot refuses axes without a value, so this panel gets a range. */
static void draw_nothing(struct plotter *p, const struct lines *l)
{
    struct strbuf *out = &p->f->script;
    strbuf_add(out, "set label 9 'no value' at graph 0.5, graph 0.5 center\nplot [");
    figure_number(out, l->x_low);
    strbuf_add(out, ":");
    figure_number(out, l->x_high);
    figure_element(p->f, -1);
    strbuf_add(out, "] [1:2] NaN\nunset label 9\n");
}

void lines_draw(struct plotter *p, const struct series_set *s, const struct lines *l)
{
    struct sheet t = lay_out(p, s);
    struct strbuf *out = &p->f->script;
    p->f->panels = s->n_panel;
    strbuf_addf(out, "set grid ytics lc rgb '#bbbbbb' dt 3\n%s", l->setting);
    strbuf_add(out, "unset key\nset multiplot\n");
    for (int k = 0; k < s->n_panel; k++) {
        place_panel(p, &t, k);
        figure_set(out, "title", *s->panel[k] ? plot_short(p, s->panel[k], t.width / 8) : "",
                   " offset 0,-0.6\n");
        figure_set(out, "ylabel", k % t.across == 0 ? l->y_label : "", "\n");
        figure_set(out, "xlabel", k + t.across >= s->n_panel ? l->x_label : "", "\n");
        bool any = false;
        for (int i = 0; i < p->r->n_row; i++)
            any = any || (p->has_value[i] && series_in_panel(p, s, i, k));
        if (any)
            draw_rows(p, s, l, k);
        else
            draw_nothing(p, l);
    }
    plot_legend(p, "linespoints lw 2 ps 0.8", s->n_series, s->series, NULL);
    strbuf_add(out, "unset multiplot\n");
}

/* ---- a metric against the length ---- */

/* The training length of all rows; 0: rows differ, unknown, or lengths are not in tokens. */
static int64_t training_length(const struct results *r)
{
    int64_t length = 0;
    if (strcmp(r->length_unit, "tokens") != 0)
        return 0;
    for (int i = 0; i < r->n_cell; i++) {
        int64_t own = json_get_int(value_get(r->cell[i].config, "train"), "seq_len", 0);
        if (own == 0 || (length && own != length))
            return 0;
        length = own;
    }
    return length;
}

/* trained: the training length; 0: none is marked. */
static void add_setting(const struct results *r, int64_t trained, struct strbuf *out)
{
    enum { LOG_FROM = 4 };
    int64_t first = r->length[0], last = r->length[r->n_length - 1];
    if (first > 0 && last >= LOG_FROM * first)
        strbuf_addf(out, "set logscale x 2\nset xrange [%g:%g]\n", (double)first / 1.15,
                    (double)last * 1.15);
    else
        strbuf_add(out, "set offsets graph 0.04, graph 0.04, 0, 0\n");
    strbuf_add(out, "set xtics (");
    for (int l = 0; l < r->n_length; l++)
        strbuf_addf(out, "%s%" PRId64, l ? ", " : "", r->length[l]);
    strbuf_add(out, ")\n");
    if (trained >= first && trained <= last)
        strbuf_addf(out,
                    "set arrow from first %" PRId64 ", graph 0 to first %" PRId64
                    ", graph 1 nohead dt 2 lc rgb '#888888'\n",
                    trained, trained);
}

peat_status plot_length(struct plotter *p)
{
    const struct results *r = p->r;
    struct series_set s;
    struct strbuf setting = STRBUF_NEW;
    if (r->n_length < 2)
        return error_set(p->err, PEAT_INVALID,
                         "%s was evaluated at one length only: list more in eval.lengths",
                         r->metric);
    series_find(p, &s);
    for (int i = 0; i < r->n_row; i++) {
        for (int l = 0; l < r->n_length; l++) {
            const struct summary *at = &r->row[i].at[l];
            lines_add(p, (double)r->length[l], at->mean, at->ci_low, at->ci_high,
                      plot_said(p, results_row_label(r, &r->row[i], p->a),
                                arena_printf(p->a, "%" PRId64 " %s", r->length[l], r->length_unit),
                                at->mean, at->ci_low, at->ci_high));
        }
        lines_end(p);
    }
    bool any = false;
    for (int i = 0; i < p->n_block; i++)
        any = any || p->has_value[i];
    if (!any)
        return error_set(p->err, PEAT_INVALID, "no row has a value yet");
    int64_t trained = training_length(r);
    add_setting(r, trained, &setting);
    plot_set_y_range(p, p->high, &setting);
    const char *with = trained ? arena_printf(p->a, "; trained with %" PRId64, trained) : "";
    lines_draw(p, &s,
               &(struct lines){
                   .x_label = arena_printf(p->a, "evaluation length (%s%s)", r->length_unit, with),
                   .y_label = plot_metric_label(p, NULL, false),
                   .setting = setting.text,
                   .point_every = 1,
                   .x_low = (double)r->length[0],
                   .x_high = (double)r->length[r->n_length - 1]});
    strbuf_release(&setting);
    return PEAT_OK;
}
