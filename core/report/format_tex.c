/* SPDX-License-Identifier: MIT */
/* format_tex.c: a table for a paper; needs the booktabs package. */
#include <string.h>

#include "report/table.h"

static void add_escaped(struct strbuf *out, const char *text)
{
    static const char plus_minus[] = "±";
    while (*text) {
        if (strncmp(text, plus_minus, sizeof(plus_minus) - 1) == 0) {
            strbuf_add(out, "$\\pm$");
            text += sizeof(plus_minus) - 1;
            continue;
        }
        char c = *text++;
        if (strchr("&%$#_{}", c))
            strbuf_addf(out, "\\%c", c);
        else if (c == '\\')
            strbuf_add(out, "\\textbackslash{}");
        else if (c == '~' || c == '^')
            strbuf_addf(out, "\\%c{}", c);
        else if (c == '<' || c == '>')
            strbuf_addf(out, "$%c$", c);
        else
            strbuf_add_bytes(out, &c, 1);
    }
}

/* A leading sign is a minus, not a hyphen. */
static void add_number(struct strbuf *out, const char *text)
{
    bool negative = text[0] == '-' && text[1];
    strbuf_add(out, negative ? "$-$" : "");
    add_escaped(out, text + negative);
}

static void add_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, k ? " & " : "  ");
        strbuf_add(out, c->strong ? "\\textbf{" : "");
        if (t->column[k].right)
            add_number(out, c->text);
        else
            add_escaped(out, c->text);
        strbuf_add(out, c->strong ? "}" : "");
        if (*c->mark)
            strbuf_addf(out, "\\textsuperscript{%s}", c->mark);
    }
    strbuf_add(out, " \\\\\n");
}

static void add_comment(struct strbuf *out, const char *text)
{
    strbuf_addf(out, "%% %s\n", text);
}

void format_tex(const struct table *t, struct strbuf *out)
{
    add_comment(out, t->title);
    if (t->any_strong)
        strbuf_addf(out, "%% bold: %s\n", t->strong);
    for (int i = 0; i < t->n_note; i++)
        add_comment(out, t->note[i]);
    strbuf_add(out, "\\begin{tabular}{");
    for (int k = 0; k < t->n_column; k++)
        strbuf_add(out, t->column[k].right ? "r" : "l");
    strbuf_add(out, "}\n  \\toprule\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, k ? " & " : "  ");
        add_escaped(out, t->column[k].head);
    }
    strbuf_add(out, " \\\\\n  \\midrule\n");
    for (int i = 0; i < t->n_row; i++)
        add_row(t, i, out);
    strbuf_add(out, "  \\bottomrule\n\\end{tabular}\n");
}
