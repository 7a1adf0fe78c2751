/* SPDX-License-Identifier: MIT */
/* significance.h: p values as they are shown: one that the seeds could not have made significant is
 * no number, which would be read as "no difference", but what it would take. */
#ifndef REPORT_SIGNIFICANCE_H
#define REPORT_SIGNIFICANCE_H

#include "report/results.h"

/* "0.031", "needs 9 seeds" when n seeds cannot reach p < .05 over m comparisons, "-" for NaN. */
void significance_p(struct strbuf *out, enum paired_test test, double p, int n, int m);
const char *significance_text(struct arena *a, enum paired_test test, double p, int n, int m);
/* Some tested row of this length has too few. */
bool results_too_few_seeds(const struct results *r, int length);

#endif
