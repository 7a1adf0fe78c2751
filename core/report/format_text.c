/* SPDX-License-Identifier: MIT */
/* format_text.c: a table for a terminal. */
#include <string.h>

#include "report/table.h"

enum { GAP = 2 };

#define BOLD   "\033[1m"
#define NORMAL "\033[0m"

/* Of one column: its texts, and the marks behind them. */
struct widths {
    size_t text, mark;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static const struct table_cell *cell_at(const struct table *t, int row, int column)
{
    return &t->cell[(size_t)row * (size_t)t->n_column + (size_t)column];
}

static size_t mark_width(const struct table_cell *c, bool bold)
{
    return strlen(c->mark) + (c->strong && !bold);
}

static struct widths measure(const struct table *t, int column, bool bold)
{
    struct widths w = {0, 0};
    for (int i = 0; i < t->n_row; i++) {
        w.text = larger(w.text, text_columns(cell_at(t, i, column)->text));
        w.mark = larger(w.mark, mark_width(cell_at(t, i, column), bold));
    }
    size_t head = text_columns(t->column[column].head);
    if (head > w.text + w.mark)
        w.text = head - w.mark;
    return w;
}

static void add_padded(struct strbuf *out, const char *text, size_t width, bool right)
{
    size_t own = text_columns(text), pad = width > own ? width - own : 0;
    if (right)
        strbuf_fill(out, ' ', pad);
    strbuf_add(out, text);
    if (!right)
        strbuf_fill(out, ' ', pad);
}

static void add_cell(struct strbuf *out, const struct table_cell *c, const struct table_column *k,
                     const struct widths *w, bool bold)
{
    bool strong = bold && c->strong;
    strbuf_add(out, strong ? BOLD : "");
    add_padded(out, c->text, w->text, k->right);
    strbuf_add(out, strong ? NORMAL : "");
    strbuf_addf(out, "%s%s", c->strong && !bold ? "*" : "", c->mark);
    strbuf_fill(out, ' ', w->mark - mark_width(c, bold));
}

static void end_line(struct strbuf *out)
{
    while (out->n && out->text[out->n - 1] == ' ')
        out->text[--out->n] = '\0';
    strbuf_add(out, "\n");
}

/* The label columns and columns [begin, end). */
static void add_block(const struct table *t, const struct widths *w, int begin, int end, bool bold,
                      struct strbuf *out)
{
    for (int i = -1; i < t->n_row; i++) {
        for (int k = t->n_label ? 0 : begin; k < end; k = k + 1 == t->n_label ? begin : k + 1) {
            if (i < 0)
                add_padded(out, t->column[k].head, w[k].text + w[k].mark, t->column[k].right);
            else
                add_cell(out, cell_at(t, i, k), &t->column[k], &w[k], bold);
            strbuf_fill(out, ' ', GAP);
        }
        end_line(out);
    }
}

/* Of columns [begin, end). */
static size_t line_width(const struct widths *w, int begin, int end)
{
    size_t sum = 0;
    for (int k = begin; k < end; k++)
        sum += w[k].text + w[k].mark + GAP;
    return sum;
}

/* As many columns as fit, at least one. */
static int block_end(const struct table *t, const struct widths *w, int begin, size_t room)
{
    int end = begin + 1;
    while (end < t->n_column && line_width(w, begin, end + 1) <= room)
        end++;
    return begin < t->first_cost && end < t->n_column && end > t->first_cost ? t->first_cost : end;
}

static void add_blocks(const struct table *t, const struct widths *w, size_t width, bool bold,
                       struct strbuf *out)
{
    size_t labels = line_width(w, 0, t->n_label), room = width > labels ? width - labels : 0;
    for (int begin = t->n_label, end; begin < t->n_column; begin = end) {
        end = block_end(t, w, begin, room);
        add_block(t, w, begin, end, bold, out);
        strbuf_add(out, "\n");
    }
}

void format_text(const struct table *t, int width, bool bold, struct strbuf *out)
{
    struct widths *w = ARENA_ARRAY(t->arena, t->n_column + 1, struct widths);
    BUG_UNLESS(w);
    for (int k = 0; k < t->n_column; k++)
        w[k] = measure(t, k, bold);
    strbuf_addf(out, "%s\n\n", t->title);
    add_blocks(t, w, (size_t)width + GAP, bold, out);
    if (t->any_strong)
        strbuf_addf(out, "%s: %s\n", bold ? "bold" : "*", t->strong);
    for (int i = 0; i < t->n_note; i++)
        strbuf_addf(out, "%s\n", t->note[i]);
}
