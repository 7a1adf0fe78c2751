/* SPDX-License-Identifier: MIT */
/* plot_length.c: a metric against the length it was evaluated at. */

#include "plotter.h"

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

static void add_setting(const struct results *r, struct strbuf *out)
{
    enum { LOG_FROM = 4 };
    int64_t first = r->length[0], last = r->length[r->n_length - 1], trained = training_length(r);
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
    if (!lines_have_value(p))
        return error_set(p->err, PEAT_INVALID, "no row has a value yet");
    add_setting(r, &setting);
    plot_set_y_range(p, p->high, &setting);
    int64_t trained = training_length(r);
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
