/* SPDX-License-Identifier: MIT */
/* labels.h: rows by a group of their axes: group[axis] says whether an axis is one of it. */
#pragma once

#include "report/results.h"

/* The row's labels of the axes in the group, or of the others; of all with NULL. "-" for none. */
const char *labels_join(const struct results *r, const struct result_row *row, const bool *group,
                        bool in, const char *between, struct arena *a);
/* Equal on the axes in the group, or on the others. */
bool labels_alike(const struct results *r, const struct result_row *x, const struct result_row *y,
                  const bool *group, bool in);
/* The row joins list [n] unless one that is alike stands there; how many there are then. */
int labels_collect(const struct results *r, const struct result_row *row, const bool *group,
                   bool in, const struct result_row **list, int n);
/* The row with the labels of `in` on the group and of `out` on the other axes; NULL: none. */
const struct result_row *labels_crossing(const struct results *r, const bool *group,
                                         const struct result_row *in, const struct result_row *out);
