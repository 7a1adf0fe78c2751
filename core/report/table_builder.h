/* SPDX-License-Identifier: MIT */
/* table_builder.h: a table under construction, for table.c and its parts alone. */
#pragma once

#include "report/table.h"

struct builder {
    struct table *t;
    struct arena *a; /* the table's */
    const struct results *r;
    const struct table_options *o;
    int length;                    /* index of the main one; -1: nothing was measured */
    int axis[EXPERIMENT_MAX_AXES]; /* in the order shown */
    const int *order;              /* rows, in the order shown */
    struct error *err;
};

/* ---- table_builder.c ---- */

/* The axis of this name for --option, or an error. */
peat_status builder_axis(struct builder *b, const char *option, const char *name, int *axis);

static inline struct table_cell table_plain(const char *text)
{
    return (struct table_cell){text, "", false};
}

/* "-" for NaN and infinities. fmt: of one double. */
struct table_cell table_number(struct arena *a, const char *fmt, double x);
/* Seeds in the mean of every row; 0: rows have different numbers, or cells that are missing. */
int table_seeds(const struct builder *b);
/* A mean with what --err says, and its marks. */
struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length);
/* The same for the difference to the baseline. */
struct table_cell table_diff_cell(struct builder *b, const struct result_row *row);

/* ---- best_text.c ---- */

/* "lr=0.003"; "-" where none is chosen. */
const char *best_value_text(const struct best *b, const struct best_row *row, struct arena *a);
/* Notes how values were chosen, and doubts; nothing without best_over. */
void best_notes(struct table *t, const struct results *r, struct arena *a);
/* "chosen", a map axis -> label or null, and "choice" with every value's score. */
void best_put(struct json m, const struct results *r, const struct result_row *row);

/* ---- the parts ---- */

/* A row for each setting: columns as asked, or as they are of use. */
peat_status table_list(struct builder *b);
/* The axes of --cols as columns: the metric at one length. */
peat_status table_cross(struct builder *b);
/* The metric, its goal, the length and the spread. */
const char *table_title(struct builder *b);
void table_notes(struct builder *b);
