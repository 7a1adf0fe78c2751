/* SPDX-License-Identifier: MIT */
/* selector.h: naming rows by the labels of their axes. */
#pragma once

#include "experiment/contrast.h"
#include "report/results.h"

/* Labels may be spelled as in tables, "rotary(base=500)", or as in the names of cells,
 * "rotary-base=500". */
struct selector {
    const char *label[EXPERIMENT_MAX_AXES]; /* NULL: not named */
};

/* "axis=label[,axis=label]", an axis by its key or its last part; or a bare label that occurs in
 * exactly one axis. `what` names the thing in messages: "--baseline". */
peat_status selector_parse(const struct results *r, const char *text, const char *what,
                           struct selector *s, struct arena *a, struct error *err);
/* Makes a selector from report.baseline, a map axis key -> label. */
peat_status selector_from_map(const struct results *r, const struct value *map, struct selector *s,
                              struct arena *a, struct error *err);
/* The selector in words: "scheme=none, size=S" */
const char *selector_text(const struct results *r, const struct selector *s, struct arena *a);
/* The one row that `text` names: all its labels joined by '.', the first of them, a label of one
 * axis, or a text for selector_parse. Otherwise NULL and an error, with the rows that match, the
 * nearest one, or all. */
const struct result_row *selector_row(const struct results *r, const char *text, struct arena *a,
                                      struct error *err);
/* True where `other` has the labels of the selector, and equals `row` on every axis that it does
 * not name. */
bool selector_leads(const struct results *r, const struct selector *s, const struct result_row *row,
                    const struct result_row *other);
/* The axis with this key or last part; -1: no such axis. */
int selector_axis(const struct results *r, const char *name);
/* "WHAT: there is no axis 'NAME'; the axes are ...; did you mean ...?" */
peat_status selector_no_axis(const struct results *r, const char *what, const char *name,
                             struct arena *a, struct error *err);
