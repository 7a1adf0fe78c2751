/* SPDX-License-Identifier: MIT */
/* table_builder.h: a table under construction, for table.c and its parts alone. */
#ifndef REPORT_TABLE_BUILDER_H
#define REPORT_TABLE_BUILDER_H

#include "report/table.h"

struct builder {
    struct table *t;
    const struct results *r;
    const struct table_options *o;
    struct strbuf text;            /* for one cell */
    int length;                    /* index of the main one; -1: nothing was measured */
    int axis[EXPERIMENT_MAX_AXES]; /* in the order shown */
    const int *order;              /* rows, in the order shown */
    struct error *err;
};

/* What b->text holds, kept; b->text is empty afterwards. */
const char *builder_keep(struct builder *b);
/* n items, cleared, in the table's arena. */
void *builder_room(struct builder *b, int64_t n, size_t bytes);
/* What b->text holds becomes a note. */
void builder_note(struct builder *b);
/* The axis of this name for --option, or an error. */
peat_status builder_axis(struct builder *b, const char *option, const char *name, size_t n,
                         int *axis);

static inline struct table_cell table_plain(const char *text)
{
    return (struct table_cell){text, "", false};
}

/* A mean with what --err says, and its marks. */
struct table_cell table_metric_cell(struct builder *b, const struct result_row *row, int length);
/* A row for each setting: columns as asked, or as they are of use. */
peat_status table_list(struct builder *b);
/* What it is a table of, and how to read it. */
const char *table_title(struct builder *b);
void table_notes(struct builder *b);

#endif
