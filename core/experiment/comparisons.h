/* SPDX-License-Identifier: MIT */
/* comparisons.h: contrasts and claims while the experiment file is read. */
#pragma once

#include "planning.h"
#include "reading.h"

/* contrasts.c: a contrast of the file in its normal form (experiment/contrast.h) into the map. */
bool contrast_normalise(struct reading *r, const struct value *v, struct value *out);
/* The axis that the text v names, if best_over does not choose its values. `what`: the key. */
bool comparison_axis(struct reading *r, const struct value *v, const char *what, int *axis);
/* The labels that v, [A, B], names of the axis, appended to the list. `what`: the key. */
bool two_labels_read(struct reading *r, const struct axis *axis, const struct value *v,
                     const char *what, struct value *list);
/* Metric and length of v, where it has them. */
bool comparison_measure(struct reading *r, struct value *out, const struct value *v);
bool contrasts_read(struct reading *r, const struct value *v, struct value **contrasts);
/* NULL: there is none of this name. */
const struct value *contrast_named(const struct value *contrasts, const char *name);

/* best_over.c: `report.best_over`; NULL: nothing is chosen. */
bool best_over_read(struct reading *r, const struct value *v, struct best_over *b);
/* A map axis -> label that names an axis whose value is chosen. `what` in messages: "baseline". */
bool best_over_refuse(struct reading *r, const struct value *map, const char *what);

/* claims.c: the section `claims`. */
bool claims_read(struct reading *r);
/* change.c: `interaction` or `trend` of the claim v into its normal form, which has the contrast.
 */
bool change_read(struct reading *r, const struct value *v, struct value *out);

/* looks.c: the map `seeds`; the numbers of seeds at which claims are judged, when claims and
 * best_over have been read; and the design in the normal form of the claims. */
bool looks_read(struct reading *r, const struct value *v);
bool looks_count(struct reading *r);
void looks_put(struct reading *r, struct value *claims);

/* comparison_check.c: what contrasts and claims name is in the plan: rows to pair, a metric of the
 * task, a length that is evaluated. */
bool comparisons_check(struct planning *p);

/* The row's task has this metric, "" being its main one; else an error at that place. */
bool metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                  struct place at);
