/* SPDX-License-Identifier: MIT */
/* comparisons.h: reads contrasts and claims of the experiment file. */
#pragma once

#include "planning.h"
#include "reading.h"

/* contrasts.c: puts a contrast of the file into the map in its normal form
 * (experiment/contrast.h). */
bool contrast_normalise(struct reading *r, const struct value *v, struct value *out);
/* The axis that the text v names; refuses one whose value best_over chooses. `what`: the key. */
bool comparison_axis(struct reading *r, const struct value *v, const char *what, int *axis);
/* Appends the two labels of the axis that v, [A, B], names to the list. `what`: the key. */
bool two_labels_read(struct reading *r, const struct axis *axis, const struct value *v,
                     const char *what, struct value *list);
/* Metric and length of v, if it has them. */
bool comparison_measure(struct reading *r, struct value *out, const struct value *v);
bool contrasts_read(struct reading *r, const struct value *v, struct value **contrasts);
/* NULL: no contrast has this name. */
const struct value *contrast_named(const struct value *contrasts, const char *name);

/* best_over.c: `report.best_over`; NULL: nothing is chosen. */
bool best_over_read(struct reading *r, const struct value *v, struct best_over *b);
/* Refuses a map axis -> label that names an axis whose value is chosen. `what` in messages:
 * "baseline". */
bool best_over_refuse(struct reading *r, const struct value *map, const char *what);

/* claims.c: the section `claims`. */
bool claims_read(struct reading *r);
/* change.c: puts `interaction` or `trend` of the claim v into its normal form, which already has
 * the contrast. */
bool change_read(struct reading *r, const struct value *v, struct value *out);

/* looks.c: the map `seeds`; the numbers of seeds at which claims are judged, to be called after
 * claims and best_over have been read; and the looks in the normal form of the claims. */
bool looks_read(struct reading *r, const struct value *v);
bool looks_count(struct reading *r);
void looks_put(struct reading *r, struct value *claims);

/* comparison_check.c: checks that the plan has everything that contrasts and claims name: rows to
 * pair, a metric of the task, a length that is evaluated. */
bool comparisons_check(struct planning *p);

/* Checks that the row's task has this metric ("": its main one); else an error at that place. */
bool metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                  struct place at);
