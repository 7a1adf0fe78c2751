/* SPDX-License-Identifier: MIT */
/* html_schemes.c: the drawings of the grid's schemes, which `peat run` has made. */

#include "grid/schemefile.h"
#include "page_parts.h"
#include "plot/heatmap.h"

static struct scheme_table table_of(const struct scheme_drawing *d, float *value)
{
    return (struct scheme_table){
        .what = d->what, .heads = d->heads, .rows = d->rows, .columns = d->columns, .value = value};
}

static const char *caption_of(struct html_page *p, const struct scheme_drawing *d)
{
    const char *heads = d->heads < d->all_heads ? ", the first heads" : "";
    if (d->before)
        return arena_printf(p->a,
                            "%s: %.60s at positions 0 to %" PRId64
                            "%s, in the cell %s before training and after it.",
                            d->title, d->what, d->rows - 1, heads, d->label);
    return arena_printf(
        p->a,
        "%s: %.60s at positions 0 to %" PRId64 "%s, initial weights of seed 0; a width of %" PRId64
        ", %" PRId64 " head%s.",
        d->title, d->what, d->rows - 1, heads, d->width, d->model_heads, plural(d->model_heads));
}

static void add_drawing(struct html_page *p, const struct scheme_drawing *d)
{
    const struct scheme_table t = table_of(d, d->value), before = table_of(d, d->before);
    struct figure f;
    const struct heatmap h =
        d->before ? heatmap_of_pair(&before, &t, p->a) : heatmap_of_scheme(&t, p->a);
    heatmap_figure(&h, &f);
    html_figure(p, &f, d->name, caption_of(p, d));
    figure_release(&f);
    if (!*d->numbers)
        return;
    html_wrap(p->out, "<details><summary>", d->name, " in numbers</summary>\n");
    html_lines(p->out, d->numbers, "</details>\n");
}

/* Why a drawing cannot be shown; NULL: it can. */
static const char *why_not(const struct html_page *p, const struct scheme_drawing *d)
{
    const struct result_cell *cell = NULL; /* the one that was drawn */
    for (int i = 0; d->id && !cell && i < p->r->n_cell; i++)
        cell = strcmp(p->r->cell[i].id, d->id) == 0 ? &p->r->cell[i] : NULL;
    bool same = cell && same_text(json_get_text(cell->result, "weights_hash"), d->weights);
    if (d->why)
        return d->why;
    return d->before && !same ? "it was drawn from weights that the cell no longer has" : NULL;
}

static void add_note(struct strbuf *notes, const char *what, const char *why)
{
    html_wrap(notes, "<li>", what, ": ");
    html_wrap(notes, "", why, "</li>\n");
}

static bool was_shown(const struct scheme_drawings *all, int n_dir, const char *title)
{
    for (int k = 0; k < n_dir; k++)
        for (int i = 0; i < all[k].n; i++)
            if (strcmp(all[k].item[i].title, title) == 0)
                return true;
    return false;
}

static void read_dir(struct html_page *p, const char *dir, struct scheme_drawings *all,
                     struct strbuf *notes)
{
    struct error why = {0};
    peat_status status = scheme_drawings_read(dir, all, p->a, &why);
    if (status == PEAT_NOTFOUND)
        add_note(notes, dir,
                 "it has no drawings of its schemes; `peat inspect` with this directory makes them");
    else if (status != PEAT_OK)
        html_wrap(notes, "<li>", why.text, "</li>\n");
}

/* A scheme that several directories have is shown for the first of them. */
static void add_dir(struct html_page *p, const struct scheme_drawings *all, int k,
                    struct strbuf *notes)
{
    for (int i = 0; i < all[k].n; i++) {
        const struct scheme_drawing *d = &all[k].item[i];
        const char *why = why_not(p, d);
        if (was_shown(all, k, d->title))
            continue;
        if (why)
            add_note(notes, d->title, why);
        else
            add_drawing(p, d);
    }
}

void html_schemes(struct html_page *p)
{
    struct scheme_drawings *all = ARENA_ARRAY(p->a, p->r->n_dir, struct scheme_drawings);
    struct strbuf notes = STRBUF_NEW;
    int n = 0;
    for (int k = 0; k < p->r->n_dir; k++) {
        read_dir(p, p->r->dir[k].path, &all[k], &notes);
        n += all[k].n;
    }
    if (n || notes.n) {
        html_fold(p->out, "schemes", "What the schemes look like", false);
        for (int k = 0; k < p->r->n_dir; k++)
            add_dir(p, all, k, &notes);
        if (notes.n)
            strbuf_addf(p->out,
                        "<details><summary>Not shown</summary>\n<ul class=\"notes\">\n%s"
                        "</ul></details>\n",
                        notes.text);
        html_end_fold(p->out);
    }
    strbuf_release(&notes);
}
