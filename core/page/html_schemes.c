/* SPDX-License-Identifier: MIT */
/* html_schemes.c: what each scheme of the grid looks like before training. */
#include <inttypes.h>

#include "looks.h"
#include "page_parts.h"
#include "plot/heatmap.h"

static void add_description(struct html_page *p, const struct look *look, const char *numbers)
{
    if (!*numbers)
        return;
    html_wrap(p->out, "<details><summary>", look->name, " in numbers</summary>\n");
    html_lines(p->out, numbers, "</details>\n");
}

static const char *caption_of(struct html_page *p, const struct look *look,
                              const struct scheme_look *seen)
{
    const struct scheme_table *t = &seen->table;
    const char *heads = t->heads < seen->heads ? ", the first heads" : "";
    if (seen->before)
        return arena_printf(p->a,
                            "%s: %.60s at positions 0 to %" PRId64
                            "%s, in the cell %s before training and after it.",
                            look->title, t->what, t->rows - 1, heads, look->cell->label);
    return arena_printf(p->a,
                        "%s: %.60s at positions 0 to %" PRId64
                        ", initial weights of seed 0%s; a width of %" PRId64 ", %" PRId64
                        " head%s.",
                        look->title, t->what, t->rows - 1, heads, look->request.d,
                        look->request.heads, plural(look->request.heads));
}

static void add_look(struct html_page *p, const struct look *look, const struct scheme_look *seen)
{
    const struct scheme_table *t = &seen->table;
    struct figure f;
    const struct heatmap h =
        seen->before ? heatmap_of_pair(seen->before, t, p->a) : heatmap_of_scheme(t, p->a);
    heatmap_figure(&h, &f);
    html_figure(p, &f, look->name, caption_of(p, look, seen));
    figure_release(&f);
    add_description(p, look, seen->numbers);
}

void html_schemes(struct html_page *p)
{
    struct look look[LOOKS_MAX];
    const char *why[LOOKS_MAX];
    int n = looks_list(p->r, p->a, look), missing = 0;
    if (n == 0)
        return;
    html_fold(p->out, "schemes", "What the schemes look like", false);
    for (int i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(p->a);
        struct scheme_look seen;
        if (look_see(&look[i], p->a, &seen, &why[i])) {
            why[i] = NULL;
            add_look(p, &look[i], &seen);
            arena_rewind(p->a, mark);
        } else {
            missing++;
        }
    }
    if (missing)
        strbuf_add(p->out, "<details><summary>Not shown</summary>\n<ul class=\"notes\">\n");
    for (int i = 0; i < n; i++)
        if (why[i]) {
            html_wrap(p->out, "<li>", look[i].title, ": ");
            html_wrap(p->out, "", why[i], "</li>\n");
        }
    if (missing)
        strbuf_add(p->out, "</ul></details>\n");
    html_end_fold(p->out);
}
