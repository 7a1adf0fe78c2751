/* SPDX-License-Identifier: MIT */
/* plot.c: chooses the kind of plot. */
#include "plot/plot.h"

#include "plotter.h"
#include "report/selector.h"

const char *const plot_kind_name[PLOT_KINDS] = {"curves", "bars",    "length",
                                                "cost",   "heatmap", "forest"};
const char *const plot_cost_name[PLOT_COSTS] = {"time", "flops", "params", "memory"};

static plot_fn *const draw_kind[PLOT_KINDS] = {
    [PLOT_CURVES] = plot_curves,     [PLOT_BARS] = plot_bars,       [PLOT_LENGTH] = plot_length,
    [PLOT_COST] = plot_against_cost, [PLOT_HEATMAP] = plot_heatmap, [PLOT_FOREST] = plot_forest,
};

static peat_status read_roles(struct plotter *p, const char *list, const char *option,
                              enum axis_role role)
{
    for (const char *word; (word = list_next(p->a, &list, ','));) {
        int axis = selector_axis(p->r, word);
        if (axis < 0)
            return selector_no_axis(p->r, option, word, p->a, p->err);
        if (p->role[axis] != AXIS_FREE)
            return error_set(p->err, PEAT_INVALID, "%s: axis '%s' is named already", option, word);
        p->role[axis] = role;
    }
    return PEAT_OK;
}

peat_status plot_find_roles(struct plotter *p)
{
    peat_status status = read_roles(p, p->o->lines, "--lines", AXIS_LINES);
    return status == PEAT_OK ? read_roles(p, p->o->panels, "--panels", AXIS_PANELS) : status;
}

peat_status plot_check(const struct results *r, const struct plot_options *o, struct arena *a,
                       struct error *err)
{
    struct plotter p = {.r = r, .o = o, .a = a, .err = err};
    return plot_find_roles(&p);
}

peat_status plot_make(struct figure *f, const struct results *r, const struct plot_options *o,
                      struct arena *a, struct error *err)
{
    struct plotter p = {f, r, o, .a = a, .err = err, .low = (double)NAN, .high = (double)NAN};
    figure_init(f, 0, 0);
    /* A grid that is still running has curves already. */
    if (r->n_length == 0 && o->kind != PLOT_CURVES)
        return error_set(err, PEAT_INVALID, "nothing is finished yet");
    peat_status status = results_find_length(r, o->length, &p.length, a, err);
    if (status == PEAT_OK)
        status = plot_find_roles(&p);
    if (status != PEAT_OK)
        return status;
    strbuf_add(&f->script, "set datafile missing 'NaN'\nset tics nomirror\nset border 3\n");
    f->title = plot_metric_label(&p, NULL, r->n_length > 0);
    return draw_kind[o->kind](&p);
}
