/* SPDX-License-Identifier: MIT */
/* html_learned.c: findings of `peat diagnose --save`: rows over seeds, figures, and each cell. */

#include "page_parts.h"
#include "plot/plot_findings.h"

static const char *begin_sentence(const char *text, struct arena *a)
{
    char *own = arena_strdup(a, text);
    own[0] = (char)toupper((unsigned char)own[0]);
    return own;
}

static void add_figure(struct html_page *p, const struct findings *f, const char *name)
{
    struct figure figure;
    const struct measure *m = measure_find(name, "", NULL);
    const struct findings_figure o = {
        .measure = name, .lines = p->o->lines, .panels = p->o->panels};
    if (plot_findings(&figure, f, &o, NULL) == PEAT_OK)
        html_figure(p, &figure, begin_sentence(m->head, p->a),
                    arena_printf(p->a, "%s. Mean over seeds with its 95 %% interval (Student t)%s.",
                                 begin_sentence(m->meaning, p->a),
                                 m->chance ? "; grey: by chance" : ""));
    figure_release(&figure);
}

static void add_figures(struct html_page *p, const struct findings *f)
{
    static const char *const name[] = {"position_r2", "order", "ratio",
                                       "cosine_size", "angle", "disjoint"};
    strbuf_add(p->out, "<details><summary>Figures of it</summary>\n");
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        add_figure(p, f, name[i]);
    strbuf_add(p->out, "</details>\n");
}

static void add_summaries(struct html_page *p, const struct result_cell *c, const struct value *v)
{
    html_wrap(p->out, "<details><summary>", c->label, "</summary>\n<dl>\n");
    for (int i = 0; v->kind == VALUE_MAP && i < v->n; i++) {
        const char *said = json_get_text(v->item[i], "summary"),
                   *why = json_get_text(v->item[i], "skipped");
        if (!said && !why)
            continue;
        html_wrap(p->out, "<dt>", v->key[i], "</dt>");
        html_wrap(p->out, said ? "<dd>" : "<dd>left out: ", said ? said : why, "</dd>\n");
    }
    strbuf_add(p->out, "</dl>\n</details>\n");
}

static void add_cells(struct html_page *p, const struct findings *f)
{
    enum { CELLS_SHOWN = 60 };
    int shown = 0;
    strbuf_add(p->out, "<details><summary>Cell by cell, in sentences</summary>\n");
    for (int i = 0; i < f->n_row; i++)
        for (int c = 0; c < f->row[i].row->n_cell && shown < CELLS_SHOWN; c++)
            if (f->row[i].tree[c]) {
                add_summaries(p, f->row[i].row->cell[c], f->row[i].tree[c]);
                shown++;
            }
    if (f->n_cell > shown)
        strbuf_addf(p->out, "<p class=\"soft\">and %d more cells</p>\n", f->n_cell - shown);
    strbuf_add(p->out, "</details>\n");
}

void html_learned(struct html_page *p)
{
    const struct findings *f = p->o->found;
    struct table t;
    if (f->n_cell + f->n_left_out == 0)
        return;
    html_fold(p->out, "learned", "What the cells learned", false);
    if (findings_table(&t, f, NULL, NULL) == PEAT_OK)
        html_results_table(p, &t);
    if (f->n_cell) {
        add_figures(p, f);
        add_cells(p, f);
    }
    html_end_fold(p->out);
}
