/* SPDX-License-Identifier: MIT */
/*
 * table.h: results as texts in rows and columns, and the ways to write them.
 *
 * table_build decides the content, the format_ functions only its look.
 */
#pragma once

#include "report/results.h"

/* The spread that follows a mean. */
enum spread { SPREAD_CI, SPREAD_SD, SPREAD_SE };

struct table_options {
    const char *rows;    /* the axis of the first column; NULL: as in the experiment      */
    const char *cols;    /* axes, comma-separated, that become columns; NULL: no axis     */
    const char *sort;    /* an axis, or "metric": best first; NULL: as in the experiment  */
    int64_t length;      /* length of differences and --cols; -1: the first               */
    const char *columns; /* words of table_list, comma-separated; NULL: the usual columns */
    enum spread err;
    int digits;        /* significant digits of the spread; 0: two                     */
    bool only_changed; /* leave out labels and costs that are the same in every row    */
    bool injection;    /* say what acts where                                          */
    bool whole;        /* the usual columns with effect sizes, seeds and costs: a page */
};

struct table {
    struct arena *arena;
    const char *title;
    int n_column, column_room;
    int n_label;    /* the first n_label columns name the row                                */
    int first_cost; /* columns from here on are kept together, in a block of their own when not
                     * all columns fit one; 0: no such columns */
    struct table_column *column;
    int n_row, n_cell, cell_room;
    struct table_cell *cell; /* [n_row, n_column] */
    const char *strong;      /* what strong cells mean; NULL: there are none */
    int n_note, note_room;
    int n_inside; /* the first notes belong into the table itself: LaTeX has rows of them */
    const char **note;
    int n_method, method_room;
    int *method; /* [n_method] which notes table_note_method added */
};

/* The i-th word that table_options.columns may have, apart from metrics and "cost"; NULL: there is
 * no such word. */
const char *table_column_word(int i);
/* PEAT_INVALID: an option names no axis or length. */
peat_status table_build(struct table *t, const struct results *r, const struct table_options *o,
                        struct arena *a, struct error *err);

/* A table is filled by adding its columns, then its cells, row by row. */
void table_column(struct table *t, const char *head, bool right);
void table_cell(struct table *t, struct table_cell cell);
void table_text(struct table *t, const char *text);
/* Adds a note below the table. */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a note on how numbers are computed. Without it every number still means the same. */
void table_note_method(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Leaves so many notes, the last of which counts those that are left out. Only notes on methods are
 * left out, the last first, so that more may stay. */
void table_limit_notes(struct table *t, int most);
/* Adds notes on refused pairs. */
void table_note_refused(struct table *t, const struct pairs *p);
/* The end of a note on differences between such cells. */
#define ENGINES_CROSSED                                                                            \
    "pairs of cells that two engines trained, or that have two precisions, so that the "           \
    "difference "                                                                                  \
    "has theirs in it"
/* Adds notes on cells that two directories have with different bits. */
void table_note_rivals(struct table *t, const struct results *r);
/* Adds what was registered, and what changed later. */
void table_note_registration(struct table *t, const struct registration *g);

/* Row numbers in the order of the table. */
peat_status table_order(const struct results *r, const struct table_options *o, struct arena *a,
                        const int **order, struct error *err);

/* Aligned text, in blocks where the columns do not fit the width (base/columns.h). */
void format_text(const struct table *t, int width, bool bold, struct strbuf *out);
void format_markdown(const struct table *t, struct strbuf *out);
/* A LaTeX tabular with booktabs rules. */
void format_tex(const struct table *t, struct strbuf *out);

/* csv_fields.c: a field of RFC 4180, quoted where it holds a separator, quotes doubled. Control
 * characters are written as in shown.h, so that one line is one record. */
void csv_field(struct strbuf *out, const char *text);
/* Writes the scalars of a map, null and NaN as empty fields; before them the keys when `head`. */
void csv_line(const struct value *map, bool head, struct strbuf *out);
/* One line per cell, metric, split and length: the last evaluation, or with all_steps every one in
 * metrics.jsonl except that of step 0. Columns: only these ("seed,value"; NULL: all), and with
 * only_changed only those of them that differ between lines, and `value`. PEAT_INVALID: no such
 * column. */
peat_status format_csv(const struct results *r, bool all_steps, const char *columns,
                       bool only_changed, struct strbuf *out, struct error *err);
/* One object with all results, contrasts and claims (docs/formats.md, "results --format json");
 * rows has an entry per row and length. PEAT_INVALID: an option names no axis or length. */
peat_status format_json(const struct results *r, const struct table_options *o, struct arena *a,
                        struct strbuf *out, struct error *err);
/* Adds the table as it is printed: title, columns, rows of texts and notes. */
void table_json(const struct table *t, struct json map);
/* Adds the number of pairs, and the statistics of the differences, to an entry. */
void json_put_pairs(struct json map, const struct pairs *p);
void json_put_difference(struct json map, const struct difference *d);
/* Only the entries of rows, one a line. */
void format_jsonl(const struct results *r, const int *order, struct arena *a, struct strbuf *out);
