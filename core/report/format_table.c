/* SPDX-License-Identifier: MIT */
/* format_table.c: a table for a terminal, for a README or an issue, and for a paper. */
#include "report/table.h"

void format_text(const struct table *t, int width, bool bold, struct strbuf *out)
{
    const struct columns c = {.arena = t->arena,
                              .n = t->n_column,
                              .n_row = t->n_row,
                              .column = t->column,
                              .cell = t->cell};
    strbuf_addf(out, "%s\n\n", shown_text(t->arena, t->title));
    columns_add_blocks(&c, t->n_label, t->first_cost, (size_t)width, bold, out);
    if (t->strong)
        strbuf_addf(out, "%s: %s\n", bold ? "bold" : "*", t->strong);
    for (int i = 0; i < t->n_note; i++)
        strbuf_addf(out, "%s\n", shown_text(t->arena, t->note[i]));
}

/* ---- Markdown ---- */

/* '|' ends a column, '*' would emphasise, '[' begin a link and '&' an entity. */
static void add_markdown(const struct table *t, const char *text, struct strbuf *out)
{
    for (text = shown_text(t->arena, text); *text; text++)
        strbuf_addf(out, strchr("|*_<>`[]~&$#\\", *text) ? "\\%c" : "%c", *text);
}

static void add_markdown_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, c->strong ? "| **" : "| ");
        add_markdown(t, c->text, out);
        strbuf_addf(out, "%s%s%s ", c->strong ? "**" : "", *c->mark ? " " : "", c->mark);
    }
    strbuf_add(out, "|\n");
}

void format_markdown(const struct table *t, struct strbuf *out)
{
    add_markdown(t, t->title, out);
    strbuf_add(out, "\n\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, "| ");
        add_markdown(t, t->column[k].head, out);
        strbuf_add(out, " ");
    }
    strbuf_add(out, "|\n");
    for (int k = 0; k < t->n_column; k++)
        strbuf_add(out, t->column[k].right ? "| ---: " : "| --- ");
    strbuf_add(out, "|\n");
    for (int i = 0; i < t->n_row; i++)
        add_markdown_row(t, i, out);
    if (t->strong || t->n_note)
        strbuf_add(out, "\n");
    if (t->strong)
        strbuf_addf(out, "- bold: %s\n", t->strong);
    for (int i = 0; i < t->n_note; i++) {
        const char *note = t->note[i];
        strbuf_add(out, note[0] == ' ' ? "  - " : "- ");
        add_markdown(t, note + strspn(note, " "), out);
        strbuf_add(out, "\n");
    }
}

/* ---- LaTeX, with the package booktabs ---- */

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

static void add_tex(const struct table *t, const char *text, struct strbuf *out)
{
    for (text = shown_text(t->arena, text); *text;) {
        const struct escape *e = escape_of(text);
        strbuf_add_bytes(out, e ? e->tex : text, e ? strlen(e->tex) : 1);
        text += e ? strlen(e->text) - e->ahead : 1;
    }
}

static void add_tex_row(const struct table *t, int row, struct strbuf *out)
{
    for (int k = 0; k < t->n_column; k++) {
        const struct table_cell *c = &t->cell[(size_t)row * (size_t)t->n_column + (size_t)k];
        strbuf_add(out, k ? " & " : "  ");
        strbuf_add(out, c->strong ? "\\textbf{" : "");
        /* The leading sign of a number is a minus, not a hyphen. */
        bool negative = t->column[k].right && c->text[0] == '-' && c->text[1];
        strbuf_add(out, negative ? "$-$" : "");
        add_tex(t, c->text + negative, out);
        strbuf_add(out, c->strong ? "}" : "");
        if (*c->mark)
            strbuf_addf(out, "\\textsuperscript{%s}", c->mark);
    }
    strbuf_add(out, " \\\\\n");
}

void format_tex(const struct table *t, struct strbuf *out)
{
    strbuf_addf(out, "%% %s\n", shown_text(t->arena, t->title));
    if (t->strong)
        strbuf_addf(out, "%% bold: %s\n", t->strong);
    for (int i = t->n_inside; i < t->n_note; i++)
        strbuf_addf(out, "%% %s\n", shown_text(t->arena, t->note[i]));
    strbuf_add(out, "\\begin{tabular}{");
    for (int k = 0; k < t->n_column; k++)
        strbuf_add(out, t->column[k].right ? "r" : "l");
    strbuf_add(out, "}\n  \\toprule\n");
    for (int k = 0; k < t->n_column; k++) {
        strbuf_add(out, k ? " & " : "  ");
        add_tex(t, t->column[k].head, out);
    }
    strbuf_add(out, " \\\\\n  \\midrule\n");
    for (int i = 0; i < t->n_row; i++)
        add_tex_row(t, i, out);
    for (int i = 0; i < t->n_inside; i++) {
        strbuf_addf(out, "  %s\\multicolumn{%d}{l}{", i ? "" : "\\midrule ", t->n_column);
        add_tex(t, t->note[i], out);
        strbuf_add(out, "} \\\\\n");
    }
    strbuf_add(out, "  \\bottomrule\n\\end{tabular}\n");
}
