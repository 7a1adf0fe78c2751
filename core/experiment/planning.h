/* SPDX-License-Identifier: MIT */
/* planning.h: a plan while it is made: one row for each point of the grid, seeds aside. */
#pragma once

#include "experiment/plan.h"

struct plan_row {
    struct point point; /* labels with "-" where there is nothing to merge; settings */
    struct plan_cell cell;
    const char *refused; /* why it is skipped; NULL: it is planned */
};

/* A plan while it is made: a reader of settings (base/value.h), whose error is never NULL. */
struct planning {
    struct plan *plan;
    const struct experiment *e;
    struct registry *registry;
    struct arena *a;
    struct arena scratch; /* of one set-up */
    struct error *err;
    struct data_files *files;
    const struct team *team; /* multiplies; NULL: sizes at the input are not looked at */
    int n;
    struct plan_row *row;
    int n_refused;
    struct plan_row *refused; /* rows that were taken out */
    int n_twin, twin_room;
    struct twin *twin; /* numbers trained in cells without position, by the rest of the cell */
};

/* evalcost.c: of one evaluation of all lengths, of the validation part or of the test part: the
 * forward passes that score given tokens, and those that generate, at most. The model needs no
 * memory. */
struct evaluation_cost {
    double score_flops, generate_flops;
    double generate_work; /* the FLOPs of training that take as long as generating */
};
struct model;
struct task;
peat_status evaluation_cost(struct model *m, const struct task *t, bool test,
                            struct evaluation_cost *cost, struct error *err);
/* cost.c: fills the cell's cost from a shape-only set-up of its config. */
bool cost_measure(struct planning *p, struct plan_cell *cell);
/* plan.c: ok: whether a step succeeded for this row. If the row was refused, it keeps the reason in
 * p->err, and the plan goes on without it: true. */
bool row_skip(struct planning *p, struct plan_row *row, bool ok);
/* plantrunks.c: fills the cells' trunks. */
bool find_trunks(struct planning *p);
/* match.c: sizes the rows as the experiment's `match` asks. */
bool match_rows_to(struct planning *p);
/* rows.c: p->row from n points, less those that only repeat another. */
bool rows_read(struct planning *p, const struct point *point, int n);
/* The label of the row's cell of that seed. */
const char *row_label(const struct planning *p, const struct plan_row *row, int64_t seed);
/* The config of a point. dropped: see cell_config_read. */
bool row_config(struct planning *p, struct plan_row *row, bool *dropped);
/* True when row and other have equal labels on every axis but those of `except`. A combine "-"
 * equals all. */
bool rows_equal(const struct planning *p, const struct plan_row *row, const struct plan_row *other,
                const struct value *except);
