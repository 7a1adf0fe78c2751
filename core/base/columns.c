/* SPDX-License-Identifier: MIT */
/* columns.c: prints texts in aligned columns. */

#include "base/base.h"

enum { GAP = 2 };

#define BOLD   "\033[1m"
#define NORMAL "\033[0m"

/* The widths of one column: of its texts, and of the marks after them. */
struct widths {
    size_t text, mark;
};

void columns_init(struct columns *t, struct arena *arena, int n)
{
    *t = (struct columns){.arena = arena, .n = n};
}

void columns_add(struct columns *t, const char *const *text)
{
    size_t row_bytes = (size_t)t->n * sizeof(*t->cell);
    t->cell = arena_grow(t->arena, t->cell, t->n_row, &t->room, row_bytes);
    struct table_cell *cell = t->cell + (size_t)t->n_row++ * (size_t)t->n;
    for (int k = 0; k < t->n; k++)
        cell[k] = (struct table_cell){arena_strdup(t->arena, text[k]), "", false};
}

/* A copy with texts that are safe to print. */
static struct columns shown_columns(const struct columns *t)
{
    struct columns shown = *t;
    struct table_column *column = ARENA_ARRAY(t->arena, t->n, struct table_column);
    size_t cells = (size_t)t->n_row * (size_t)t->n;
    shown.cell = ARENA_ARRAY(t->arena, cells, struct table_cell);
    for (size_t i = 0; i < cells; i++) {
        shown.cell[i] = t->cell[i];
        shown.cell[i].text = shown_text(t->arena, t->cell[i].text);
    }
    for (int k = 0; t->column && k < t->n; k++)
        column[k] =
            (struct table_column){shown_text(t->arena, t->column[k].head), t->column[k].right};
    shown.column = t->column ? column : NULL;
    return shown;
}

/* ---- widths ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static const struct table_cell *cell_at(const struct columns *t, int row, int column)
{
    return &t->cell[(size_t)row * (size_t)t->n + (size_t)column];
}

static size_t mark_width(const struct table_cell *c, bool bold)
{
    return strlen(c->mark) + (c->strong && !bold);
}

static struct widths *measure_columns(const struct columns *t, bool bold)
{
    struct widths *w = ARENA_ARRAY(t->arena, t->n, struct widths);
    for (int k = 0; k < t->n; k++) {
        for (int i = 0; i < t->n_row; i++) {
            w[k].text = larger(w[k].text, text_columns(cell_at(t, i, k)->text));
            w[k].mark = larger(w[k].mark, mark_width(cell_at(t, i, k), bold));
        }
        size_t head = t->column ? text_columns(t->column[k].head) : 0;
        if (head > w[k].text + w[k].mark)
            w[k].text = head - w[k].mark;
    }
    return w;
}

/* The width of columns [begin, end). */
static size_t line_width(const struct widths *w, int begin, int end)
{
    size_t sum = 0;
    for (int k = begin; k < end; k++)
        sum += w[k].text + w[k].mark + GAP;
    return sum;
}

/* ---- lines ---- */

static void add_padded(struct strbuf *out, const char *text, size_t width, bool right)
{
    size_t pad = width - text_columns(text);
    strbuf_fill(out, ' ', right ? pad : 0);
    strbuf_add(out, text);
    strbuf_fill(out, ' ', right ? 0 : pad);
}

/* Adds columns [begin, end) of a row, each followed by the gap. */
static void add_cells(const struct columns *t, const struct widths *w, int row, int begin, int end,
                      bool bold, struct strbuf *out)
{
    for (int k = begin; k < end; k++) {
        const struct table_cell *c = cell_at(t, row, k);
        strbuf_add(out, bold && c->strong ? BOLD : "");
        add_padded(out, c->text, w[k].text, t->column && t->column[k].right);
        strbuf_addf(out, "%s%s", !c->strong ? "" : bold ? NORMAL : "*", c->mark);
        strbuf_fill(out, ' ', w[k].mark - mark_width(c, bold) + GAP);
    }
}

static void add_heads(const struct columns *t, const struct widths *w, int begin, int end,
                      struct strbuf *out)
{
    for (int k = begin; k < end; k++) {
        add_padded(out, t->column[k].head, w[k].text + w[k].mark, t->column[k].right);
        strbuf_fill(out, ' ', GAP);
    }
}

static void end_line(struct strbuf *out)
{
    while (out->n && out->text[out->n - 1] == ' ')
        out->text[--out->n] = '\0';
    strbuf_add(out, "\n");
}

void columns_print(const struct columns *given, const char *indent, FILE *out)
{
    const struct columns shown = shown_columns(given), *t = &shown;
    const struct widths *w = measure_columns(t, false);
    struct strbuf line = STRBUF_NEW, shown_line = STRBUF_NEW;
    for (int i = 0; i < t->n_row; i++) {
        strbuf_clear(&line);
        add_cells(t, w, i, 0, t->n - 1, false, &line);
        strbuf_add(&line, cell_at(t, i, t->n - 1)->text);
        end_line(&line);
        strbuf_clear(&shown_line);
        strbuf_addf(&shown_line, "%s%s", indent, line.text);
        strbuf_clear(&line);
        wrap_add(&line, shown_line.text, terminal_columns(out));
        fwrite(line.text, 1, line.n, out);
    }
    strbuf_release(&line);
    strbuf_release(&shown_line);
}

/* ---- blocks ---- */

/* The end of the block that begins here: as many columns as fit, at least one. */
static int block_end(const struct columns *t, const struct widths *w, int begin, int apart,
                     size_t room)
{
    int end = begin + 1;
    while (end < t->n && line_width(w, begin, end + 1) <= room)
        end++;
    return begin < apart && end < t->n && end > apart ? apart : end;
}

void columns_add_blocks(const struct columns *given, int n_label, int apart, size_t width,
                        bool bold, struct strbuf *out)
{
    const struct columns shown = shown_columns(given), *t = &shown;
    const struct widths *w = measure_columns(t, bold);
    size_t labels = line_width(w, 0, n_label),
           room = width + GAP > labels ? width + GAP - labels : 0;
    for (int begin = n_label, end; begin < t->n; begin = end) {
        end = block_end(t, w, begin, apart, room);
        add_heads(t, w, 0, n_label, out);
        add_heads(t, w, begin, end, out);
        end_line(out);
        for (int i = 0; i < t->n_row; i++) {
            add_cells(t, w, i, 0, n_label, bold, out);
            add_cells(t, w, i, begin, end, bold, out);
            end_line(out);
        }
        strbuf_add(out, "\n");
    }
}

void columns_print_blocks(const struct columns *given, int n_label, FILE *out)
{
    struct columns t = *given;
    struct table_column *column = ARENA_ARRAY(t.arena, t.n, struct table_column);
    struct strbuf text = STRBUF_NEW;
    size_t width = terminal_columns(out);
    BUG_UNLESS(t.n_row > 0);
    for (int k = 0; k < t.n; k++)
        column[k] = (struct table_column){t.cell[k].text, false};
    t.column = column;
    t.cell += t.n;
    t.n_row--;
    columns_add_blocks(&t, n_label, 0, width ? width : SIZE_MAX / 2, false, &text);
    fwrite(text.text, 1, text.n ? text.n - 1 : 0, out); /* without the last empty line */
    strbuf_release(&text);
}
