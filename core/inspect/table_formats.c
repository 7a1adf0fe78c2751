/* SPDX-License-Identifier: MIT */
/* table_formats.c: writes a scheme's table for people, as CSV and for NumPy. */

#include "inspect/table_formats.h"

/* Number of heads of each row of a batch; 0: the rows have no heads. */
static int64_t heads_of_row(const struct scheme_table *t)
{
    return t->batch > 1 && t->heads > t->batch ? t->heads / t->batch : 0;
}

void scheme_table_sheet(const struct scheme_table *t, int64_t sheet, char name[SHEET_NAME])
{
    int64_t heads = heads_of_row(t);
    if (t->batch <= 1)
        snprintf(name, SHEET_NAME, "head %" PRId64, sheet);
    else if (heads)
        snprintf(name, SHEET_NAME, "row %" PRId64 ", head %" PRId64, sheet / heads, sheet % heads);
    else
        snprintf(name, SHEET_NAME, "row %" PRId64, sheet);
}

/* "0," or, of several rows with heads, "1,0,". */
static void add_sheet_numbers(const struct scheme_table *t, int64_t sheet, struct strbuf *out)
{
    int64_t heads = heads_of_row(t);
    if (heads)
        strbuf_addf(out, "%" PRId64 ",%" PRId64 ",", sheet / heads, sheet % heads);
    else
        strbuf_addf(out, "%" PRId64 ",", sheet);
}

/* Every float in the shortest form that reads back. */
void scheme_table_csv(const struct scheme_table *t, struct strbuf *out)
{
    int64_t heads = t->heads ? t->heads : 1;
    if (t->heads) {
        strbuf_add(out, t->batch <= 1     ? "head,position"
                        : heads_of_row(t) ? "row,head,position"
                                          : "row,position");
        for (int64_t j = 0; j < t->columns; j++)
            strbuf_addf(out, ",%" PRId64, j);
        strbuf_add(out, "\n");
    }
    const float *value = t->value;
    for (int64_t row = 0; row < heads * t->rows; row++) {
        if (t->heads) {
            add_sheet_numbers(t, row / t->rows, out);
            strbuf_addf(out, "%" PRId64 ",", row % t->rows);
        }
        for (int64_t j = 0; j < t->columns; j++) {
            char text[32];
            number_text_single(*value++, text);
            strbuf_addf(out, "%s%s", j ? "," : "", text);
        }
        strbuf_add(out, "\n");
    }
}

static void add_row_name(const struct scheme_table *t, int64_t row, int width, struct strbuf *out)
{
    if (!t->row_label) {
        strbuf_addf(out, "%*" PRId64, width, row);
        return;
    }
    int columns = (int)text_columns(t->row_label[row]);
    strbuf_fill(out, ' ', columns < width ? (size_t)(width - columns) : 0);
    strbuf_add(out, t->row_label[row]);
}

/* Leaves out columns that do not fit; the last column says so. */
static void add_head(const struct scheme_table *t, int64_t head, int width, struct strbuf *out)
{
    enum { LABEL = 6, CELL = 11, MORE = 4 };
    int64_t fit = (width - LABEL - MORE) / CELL;
    int64_t shown = t->columns < fit ? t->columns : fit > 0 ? fit : 1;
    const char *more = shown < t->columns ? " ..." : "";
    strbuf_addf(out, "%*s", LABEL, "");
    for (int64_t j = 0; j < shown; j++)
        strbuf_addf(out, "%*" PRId64, CELL, j);
    strbuf_addf(out, "%s\n", more);
    for (int64_t i = 0; i < t->rows; i++) {
        const float *row = t->value + (head * t->rows + i) * t->columns;
        add_row_name(t, i, LABEL, out);
        for (int64_t j = 0; j < shown; j++)
            strbuf_addf(out, " %*.4g", CELL - 1, (double)row[j]);
        strbuf_addf(out, "%s\n", more);
    }
}

void scheme_table_text(const struct scheme_table *t, const char *name, int width,
                       struct strbuf *out)
{
    for (int64_t h = 0; h < (t->heads ? t->heads : 1); h++) {
        strbuf_addf(out, "%s%s: %s", h ? "\n" : "", name, t->what);
        char sheet[SHEET_NAME];
        scheme_table_sheet(t, h, sheet);
        if (t->heads)
            strbuf_addf(out, " of %s", sheet);
        strbuf_addf(out, ", %" PRId64 " x %" PRId64 "\n", t->rows, t->columns);
        add_head(t, h, width, out);
    }
}

/* NumPy's format 1.0: the header ends with a newline at a multiple of 64 bytes. */
void scheme_table_npy(const struct scheme_table *t, struct strbuf *out)
{
    enum { PREFIX = 10, BLOCK = 64 };
    const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    int64_t n = scheme_table_values(t), heads = heads_of_row(t);
    struct strbuf head = STRBUF_NEW;
    strbuf_addf(&head, "{'descr': '%cf4', 'fortran_order': False, 'shape': (", order);
    if (heads)
        strbuf_addf(&head, "%" PRId64 ", %" PRId64 ", ", t->batch, heads);
    else if (t->heads)
        strbuf_addf(&head, "%" PRId64 ", ", t->heads);
    strbuf_addf(&head, "%" PRId64 ", %" PRId64 "), }", t->rows, t->columns);
    strbuf_fill(&head, ' ', BLOCK - 1 - (PREFIX + head.n) % BLOCK);
    strbuf_add(&head, "\n");
    const unsigned char length[] = {(unsigned char)(head.n & 0xff), (unsigned char)(head.n >> 8)};
    strbuf_add_bytes(out, "\x93NUMPY\x01\x00", PREFIX - sizeof(length));
    strbuf_add_bytes(out, length, sizeof(length));
    strbuf_add_bytes(out, head.text, head.n);
    strbuf_add_bytes(out, t->value, (size_t)n * sizeof(*t->value));
    strbuf_release(&head);
}
