/* SPDX-License-Identifier: MIT */
/* format_markdown.c: a table for a README or an issue. */

#include "report/table.h"

/* '|' ends a column, '*' would emphasise, '[' begin a link and '&' an entity. */
static void add_escaped(const struct table *t, const char *text, struct strbuf *out)
{
    for (text = shown_text(t->arena, text); *text; text++)
        strbuf_addf(out, strchr("|*_<>`[]~&$#\\", *text) ? "\\%c" : "%c", *text);
}

static void add_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, c->strong ? "| **" : "| ");
        add_escaped(t, c->text, out);
        strbuf_addf(out, "%s%s%s ", c->strong ? "**" : "", *c->mark ? " " : "", c->mark);
    }
    strbuf_add(out, "|\n");
}

void format_markdown(const struct table *t, struct strbuf *out)
{
    add_escaped(t, t->title, out);
    strbuf_add(out, "\n\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, "| ");
        add_escaped(t, t->column[k].head, out);
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
        add_escaped(t, note + strspn(note, " "), out);
        strbuf_add(out, "\n");
    }
}
