/* SPDX-License-Identifier: MIT */
/*
 * findings.h: the measures of many cells' diagnoses, row by row over seeds.
 *
 * A diagnosis is the tree that `peat diagnose` makes of one cell. Rows and seeds are those of the
 * results; nothing is trained or loaded here.
 */
#pragma once

#include "findings/measures.h"
#include "report/table.h"

struct found_row {
    const struct result_row *row;
    int n;                     /* number of its cells that are diagnosed */
    const struct value **tree; /* [row->n_cell], NULL: not diagnosed */
};

struct left_out {
    const char *cell, *why;
};

struct findings {
    const struct results *r;
    struct arena *a;
    int n_row, n_cell;
    struct found_row *row; /* the found row of each row of the results, in their order */
    int n_left_out, left_out_room;
    struct left_out *left_out;
};

/* One number of a row: mean over seeds with a 95 % Student-t interval. */
struct finding {
    int64_t part; /* number of the layer or first dimension; -1: the measure has one number */
    struct summary over;
    double chance; /* value by chance, mean over seeds; NaN: unknown */
    double *value; /* [n_cell of the row]; NaN: no value */
};

/* Collects the diagnoses that the cells that count have kept. */
void findings_read(struct findings *f, const struct results *r, struct arena *a);
/* Begins without any diagnosis. */
void findings_init(struct findings *f, const struct results *r, struct arena *a);
/* Adds the diagnosis of a cell of the results. */
void findings_add(struct findings *f, const struct result_cell *cell, const struct value *tree);
void findings_leave_out(struct findings *f, const char *cell, const char *why);
/* The diagnosis that `peat diagnose --save` kept in a cell. NULL: none was kept (*why is NULL), or
 * it is of other weights. */
const struct value *findings_kept(const struct result_cell *cell, struct arena *a,
                                  const char **why);

/* The row's numbers of a measure; returns how many, at most MEASURE_PARTS. */
int findings_of(const struct findings *f, const struct found_row *row, const struct measure *m,
                struct finding out[MEASURE_PARTS]);

/* ---- findings_table.c ---- */

/* A line for each diagnosed row. columns: "angle,position_r2@0", comma-separated; NULL: the usual
 * ones that some row has. PEAT_INVALID: no such measure or part. */
peat_status findings_table(struct table *t, const struct findings *f, const char *columns,
                           struct error *err);
/* A line for each row, measure and part, all numbers in full. */
void findings_csv(const struct findings *f, struct strbuf *out);
void findings_json(const struct findings *f, struct json map);
