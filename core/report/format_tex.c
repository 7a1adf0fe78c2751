/* SPDX-License-Identifier: MIT */
/* format_tex.c: a table for a paper; needs the booktabs package. */

#include "report/table.h"

/* Text with a meaning in LaTeX. After the end of a row '[' and '*' are options; pairs of hyphens
 * or quotes, and '?' or '!' before a quote, become one character. */
struct escape {
    const char *text, *tex;
    size_t ahead; /* bytes of the text that are only context */
};
static const struct escape escapes[] = {
    {"&", "\\&", 0},
    {"%", "\\%", 0},
    {"$", "\\$", 0},
    {"#", "\\#", 0},
    {"_", "\\_", 0},
    {"{", "\\{", 0},
    {"}", "\\}", 0},
    {"\\", "\\textbackslash{}", 0},
    {"~", "\\textasciitilde{}", 0},
    {"^", "\\textasciicircum{}", 0},
    {"|", "\\textbar{}", 0},
    {"<", "$<$", 0},
    {">", "$>$", 0},
    {"\"", "{\\ttfamily\\char34}", 0},
    {"[", "{[}", 0},
    {"*", "{*}", 0},
    {"--", "-{}", 1},
    {"''", "'{}", 1},
    {"``", "`{}", 1},
    {"?`", "?{}", 1},
    {"!`", "!{}", 1},
    {"±", "$\\pm$", 0},
};

static const struct escape *escape_of(const char *text)
{
    for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++)
        if (strncmp(text, escapes[i].text, strlen(escapes[i].text)) == 0)
            return &escapes[i];
    return NULL;
}

static void add_escaped(const struct table *t, const char *text, struct strbuf *out)
{
    for (text = shown_text(t->arena, text); *text;) {
        const struct escape *e = escape_of(text);
        strbuf_add_bytes(out, e ? e->tex : text, e ? strlen(e->tex) : 1);
        text += e ? strlen(e->text) - e->ahead : 1;
    }
}

/* A leading sign is a minus, not a hyphen. */
static void add_number(const struct table *t, const char *text, struct strbuf *out)
{
    bool negative = text[0] == '-' && text[1];
    strbuf_add(out, negative ? "$-$" : "");
    add_escaped(t, text + negative, out);
}

static void add_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, k ? " & " : "  ");
        strbuf_add(out, c->strong ? "\\textbf{" : "");
        if (t->column[k].right)
            add_number(t, c->text, out);
        else
            add_escaped(t, c->text, out);
        strbuf_add(out, c->strong ? "}" : "");
        if (*c->mark)
            strbuf_addf(out, "\\textsuperscript{%s}", c->mark);
    }
    strbuf_add(out, " \\\\\n");
}

static void add_comment(const struct table *t, const char *text, struct strbuf *out)
{
    strbuf_addf(out, "%% %s\n", shown_text(t->arena, text));
}

void format_tex(const struct table *t, struct strbuf *out)
{
    add_comment(t, t->title, out);
    if (t->any_strong)
        strbuf_addf(out, "%% bold: %s\n", t->strong);
    for (int i = 0; i < t->n_note; i++)
        add_comment(t, t->note[i], out);
    strbuf_add(out, "\\begin{tabular}{");
    for (int k = 0; k < t->n_column; k++)
        strbuf_add(out, t->column[k].right ? "r" : "l");
    strbuf_add(out, "}\n  \\toprule\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, k ? " & " : "  ");
        add_escaped(t, t->column[k].head, out);
    }
    strbuf_add(out, " \\\\\n  \\midrule\n");
    for (int i = 0; i < t->n_row; i++)
        add_row(t, i, out);
    strbuf_add(out, "  \\bottomrule\n\\end{tabular}\n");
}
