/* SPDX-License-Identifier: MIT */
/* best_rows.h: rows with the value that best_over has chosen for them. */
#ifndef REPORT_BEST_ROWS_H
#define REPORT_BEST_ROWS_H

#include "report/results.h"

/* Of the rows that differ only on the axes of best_over one is left, with the cells of the chosen
 * value at the seeds that were kept for the report. Where no value is chosen its cells wait, or
 * count as diverged when every value did. Those axes are none of the table's any more. */
peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err);

#endif
