/* SPDX-License-Identifier: MIT */
/* comparisons.h: contrasts and claims while the experiment file is read. */
#ifndef EXPERIMENT_COMPARISONS_H
#define EXPERIMENT_COMPARISONS_H

#include "planning.h"
#include "reading.h"

/* contrasts.c: a contrast of the file in its normal form (experiment/contrast.h) into the map. */
bool contrast_normalise(struct reading *r, const struct value *v, struct value *out);
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

/* comparison_check.c: what contrasts and claims name is in the plan: rows to pair, a metric of the
 * task, a length that is evaluated. */
bool comparisons_check(struct planning *p);

/* The row's task has this metric, "" being its main one; else an error at that place. */
bool metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                  struct place at);

#endif
