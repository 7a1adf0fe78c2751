/* SPDX-License-Identifier: MIT */
/* table_builder.h: a table under construction; only for table.c and its parts. */
#pragma once

#include "report/table.h"

struct builder {
    struct table *t;
    struct arena *a; /* the table's memory */
    const struct results *r;
    const struct table_options *o;
    int length;                    /* index of the main length; -1: nothing was measured */
    int axis[EXPERIMENT_MAX_AXES]; /* axes in the order shown */
    const int *order;              /* rows, in the order shown */
    struct error *err;
};

/* Functions that return bool have set the error where they return false. */

/* The axis of this name, given to --option. */
bool builder_axis(struct builder *b, const char *option, const char *name, int *axis);

static inline struct table_cell table_plain(const char *text)
{
    return (struct table_cell){text, "", false};
}

/* True where the means of a row have the same number of seeds at all lengths that are shown. */
bool table_one_n(const struct builder *b, const struct result_row *row);
/* Seeds in the mean of every row; 0: rows have different numbers, or cells that are missing. */
int table_seeds(const struct builder *b);
/* A mean with what --err says, and its marks. */
struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length);

/* ---- parts of the table ---- */

/* A row for each setting: the requested columns, or the useful ones. */
bool table_list(struct builder *b);
/* The axes of --cols as columns: the metric at one length. */
bool table_cross(struct builder *b);
/* The title: the metric, its goal, the length and the spread. */
const char *table_title(struct builder *b);
void table_notes(struct builder *b);
