/* SPDX-License-Identifier: MIT */
/* format_markdown.c: a table for a README or an issue. */
#include <string.h>

#include "report/table.h"

/* '|' ends a column, and '*' would emphasise. */
static void add_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_addf(out, strchr("|*_<`\\", *text) ? "\\%c" : "%c", *text);
}

static void add_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, c->strong ? "| **" : "| ");
        add_escaped(out, c->text);
        strbuf_addf(out, "%s%s%s ", c->strong ? "**" : "", *c->mark ? " " : "", c->mark);
    }
    strbuf_add(out, "|\n");
}

void format_markdown(const struct table *t, struct strbuf *out)
{
    add_escaped(out, t->title);
    strbuf_add(out, "\n\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, "| ");
        add_escaped(out, t->column[k].head);
        strbuf_add(out, " ");
    }
    strbuf_add(out, "|\n");
    for (int k = 0; k < t->n_column; k++)
        strbuf_add(out, t->column[k].right ? "| ---: " : "| --- ");
    strbuf_add(out, "|\n");
    for (int i = 0; i < t->n_row; i++)
        add_row(t, i, out);
    if (t->any_strong || t->n_note)
        strbuf_add(out, "\n");
    if (t->any_strong)
        strbuf_addf(out, "- bold: %s\n", t->strong);
    for (int i = 0; i < t->n_note; i++) {
        const char *note = t->note[i];
        strbuf_add(out, note[0] == ' ' ? "  - " : "- ");
        add_escaped(out, note + strspn(note, " "));
        strbuf_add(out, "\n");
    }
}
