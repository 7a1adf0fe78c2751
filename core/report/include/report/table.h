/* SPDX-License-Identifier: MIT */
/*
 * table.h: results as texts in rows and columns, and the ways to write them.
 *
 * table_build decides the content, the format_ functions only its look.
 */
#pragma once

#include "base/base.h"
#include "report/results.h"

/* What stands behind a mean. */
enum spread { SPREAD_CI, SPREAD_SD, SPREAD_SE };

struct table_options {
    const char *rows;    /* axis that stands first; NULL: as in the experiment            */
    const char *cols;    /* axes, comma-separated, that become columns; NULL: none        */
    const char *sort;    /* an axis, or "metric": best first; NULL: as in the experiment  */
    int64_t length;      /* that differences and --cols are about; -1: the first          */
    const char *columns; /* of table_list, comma-separated; NULL: the usual ones       */
    enum spread err;
    int digits;        /* significant ones of the spread; 0: two                       */
    bool only_changed; /* leave out labels and costs that are the same in every row    */
    bool injection;    /* say what acts where                                          */
    bool whole;        /* the usual columns with effect sizes, seeds and costs: a page */
};

struct table {
    struct arena *arena;
    const char *title;
    int n_column, column_room;
    int n_label;    /* the first n_label columns name the row                                */
    int first_cost; /* columns from here on belong together, in a block of their own when not all
                       columns fit one; 0: none */
    struct table_column *column;
    int n_row, n_cell, cell_room;
    struct table_cell *cell; /* [n_row, n_column] */
    bool any_strong;
    const char *strong; /* what strong cells mean */
    int n_note, note_room;
    const char **note;
};

/* The i-th word that table_options.columns may have, apart from metrics and "cost"; NULL: there
 * are fewer. */
const char *table_column_word(int i);
/* PEAT_INVALID: an option names no axis or length. */
peat_status table_build(struct table *t, const struct results *r, const struct table_options *o,
                        struct arena *a, struct error *err);

/* A table is made of its columns, then of its cells, row by row. */
void table_column(struct table *t, const char *head, bool right);
void table_cell(struct table *t, struct table_cell cell);
void table_text(struct table *t, const char *text);
/* One more note below the table. */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Notes on pairs that are refused. */
void table_note_refused(struct table *t, const struct pairs *p);
/* Notes on cells that two directories have with other bits. */
void table_note_rivals(struct table *t, const struct results *r);

/* Row numbers in the order that the table has them. */
peat_status table_order(const struct results *r, const struct table_options *o, struct arena *a,
                        const int **order, struct error *err);

/* Aligned text, in blocks where the columns do not fit the width (base/columns.h). */
void format_text(const struct table *t, int width, bool bold, struct strbuf *out);
void format_markdown(const struct table *t, struct strbuf *out);
/* A LaTeX tabular with booktabs rules. */
void format_tex(const struct table *t, struct strbuf *out);

/* csv_fields.c: a field of RFC 4180, quoted where it holds a separator, quotes doubled. A line is
 * one line: control characters are as shown.h has them. */
void csv_field(struct strbuf *out, const char *text);
/* The scalars of a map, null and NaN as nothing; before them the keys when `head`. */
void csv_line(const struct value *map, bool head, struct strbuf *out);
/* One line per cell, metric, split and length: the last evaluation, or with all_steps every one in
 * metrics.jsonl but that of step 0. Only these columns ("seed,value"; NULL: all), and with
 * only_changed those of them that differ between lines, `value` always. PEAT_INVALID: there is no
 * such column. */
peat_status format_csv(const struct results *r, bool all_steps, const char *columns,
                       bool only_changed, struct strbuf *out, struct error *err);
/* One object; rows has an entry per row and length. order: row numbers; NULL: as they are. */
void format_json(const struct results *r, const int *order, struct arena *a, struct strbuf *out);
/* Members of an entry: the number of pairs, and the statistics of the differences. */
void json_put_pairs(struct json map, const struct pairs *p);
void json_put_difference(struct json map, const struct difference *d);
/* The entries of rows alone, one a line. */
void format_jsonl(const struct results *r, const int *order, struct arena *a, struct strbuf *out);
/* What strong cells mean. */
#define TABLE_STRONG "best, and rows whose paired difference to it has a 95 % CI that includes 0"
