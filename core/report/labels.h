/* SPDX-License-Identifier: MIT */
/* labels.h: compares rows on a group of axes: group[axis] says whether an axis belongs to it. */
#pragma once

#include "report/results.h"

/* Adds the row to the list [n] unless a row is there with equal labels on the axes with group[axis]
 * == in; returns the new number of rows. */
int labels_collect(const struct results *r, const struct result_row *row, const bool *group,
                   bool in, const struct result_row **list, int n);
/* The row with the labels of `in` on the group and of `out` on the other axes; NULL: no row. */
const struct result_row *labels_crossing(const struct results *r, const bool *group,
                                         const struct result_row *in, const struct result_row *out);
