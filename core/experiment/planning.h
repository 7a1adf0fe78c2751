/* SPDX-License-Identifier: MIT */
/* planning.h: a plan while it is made: one row for each point of the grid without its seed. */
#pragma once

#include "experiment/plan.h"

struct plan_row {
    struct point point; /* labels, with "-" where the scheme has nothing to combine; settings */
    struct plan_cell cell;
    const char *refused; /* why it is skipped; NULL: not skipped */
};

/* A plan while it is made. It is a reader of settings (base/value.h), so its error is never
 * NULL. */
struct planning {
    struct plan *plan;
    const struct experiment *e;
    struct registry *registry;
    struct arena *a;
    struct arena scratch; /* memory of one set-up */
    struct error *err;
    struct data_files *files;
    const struct team *team; /* team for computing sizes at the input; NULL: they are not
                              * computed */
    int n;
    struct plan_row *row;
    int n_refused;
    struct plan_row *refused; /* rows that were removed */
    int n_twin, twin_room;
    struct twin *twin; /* number of trained numbers of cells without schemes and combine, by the
                        * hash of their other settings */
};

/* cost.c: computes the cell's cost from a shape-only set-up of its config. */
bool cost_measure(struct planning *p, struct plan_cell *cell);
/* rows.c: ok: whether a step succeeded for this row. Returns true also if the row was refused: then
 * it keeps the reason in p->err, and the plan goes on without the row. */
bool row_skip(struct planning *p, struct plan_row *row, bool ok);
/* plantrunks.c: sets the cells' trunks. */
bool find_trunks(struct planning *p);
/* match.c: changes sizes in the rows according to the experiment's `match`. */
bool match_rows_to(struct planning *p);
/* rows.c: sets p->row from n points, leaving out points that only repeat another. */
bool rows_read(struct planning *p, const struct point *point, int n);
/* The label of the row's cell with that seed; `whole`: its name (plan_cell). */
const char *row_name(const struct planning *p, const struct plan_row *row, bool whole,
                     int64_t seed);
/* The config of a point. dropped: see cell_config_read. */
bool row_config(struct planning *p, struct plan_row *row, bool *dropped);
/* The first row from `from` on with the labels of `map` that equals `row` on every axis except
 * those of `except`; NULL: none. A combine "-" matches any. */
const struct plan_row *row_find(const struct planning *p, const struct plan_row *from,
                                const struct value *map, const struct plan_row *row,
                                const struct value *except);

/* comparison_check.c: checks that the plan has everything that contrasts and claims name: rows to
 * pair, a metric of the task, a length that is evaluated. */
bool comparisons_check(struct planning *p);

/* Checks that the row's task has this metric ("": its main one); else an error at that place. */
bool metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                  struct place at);
