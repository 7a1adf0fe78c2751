/* SPDX-License-Identifier: MIT */
/* best_rows.h: rows with the value that best_over has chosen for them. */
#ifndef REPORT_BEST_ROWS_H
#define REPORT_BEST_ROWS_H

#include "report/results.h"

/* Rows that differ only on the axes of best_over become one, with the chosen value's cells at
 * the reported seeds. Without a chosen value its cells wait, or count as diverged when every
 * value diverged. The axes leave the table. */
peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err);

#endif
