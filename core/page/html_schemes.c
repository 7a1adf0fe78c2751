/* SPDX-License-Identifier: MIT */
/* html_schemes.c: what each scheme of the grid looks like before training. */
#include <inttypes.h>
#include <stdio.h>

#include "inspect/describe.h"
#include "looks.h"
#include "page_parts.h"
#include "plot/heatmap.h"

enum { HEADS_MAX = 8 };

static void add_description(struct html_page *p, const struct look *look,
                            const struct scheme_table *t)
{
    struct strbuf text;
    strbuf_init(&text);
    if (describe_page(t, look->request.scheme, &text, p->a, NULL) == PEAT_OK) {
        html_wrap(p->out, "<details><summary>", look->title, " in numbers</summary>\n");
        html_lines(p->out, text.text, "</details>\n");
    }
    strbuf_release(&text);
}

static void add_look(struct html_page *p, const struct look *look, const struct scheme_table *t)
{
    struct scheme_table few = *t;
    struct figure f;
    char caption[256];
    few.heads = t->heads > HEADS_MAX ? HEADS_MAX : t->heads;
    const struct heatmap h = heatmap_of_scheme(&few, p->a);
    snprintf(caption, sizeof(caption),
             "%.60s at positions 0 to %" PRId64 ", initial weights of seed 0%s; a width of %" PRId64
             ", %" PRId64 " head%s.",
             t->what, t->rows - 1, few.heads < t->heads ? ", the first heads" : "", look->request.d,
             look->request.heads, plural(look->request.heads));
    heatmap_figure(&h, &f);
    html_figure(p, &f, look->title, caption);
    figure_release(&f);
    add_description(p, look, &few);
}

void html_schemes(struct html_page *p)
{
    struct look look[LOOKS_MAX];
    const char *why[LOOKS_MAX];
    int n = looks_list(p->r, p->a, look), missing = 0;
    if (n == 0)
        return;
    html_section(p->out, "schemes", "What the schemes look like");
    for (int i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(p->a);
        struct scheme_table t;
        if (look_table(&look[i], p->a, &t, &why[i])) {
            why[i] = NULL;
            add_look(p, &look[i], &t);
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
    html_end_section(p->out);
}
