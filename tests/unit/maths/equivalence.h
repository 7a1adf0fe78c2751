/* SPDX-License-Identifier: MIT */
/* equivalence.h: equivalence within +-margin by two one-sided t tests (Schuirmann 1987, J.
 * Pharmacokin. Biopharm. 15, 657). */
#pragma once

#include <math.h>

#include "maths/statistics.h"

/* The larger p of "above -margin" and "below margin"; NaN when either is. */
static inline double equivalence_p(const double *d, int n, double margin)
{
    double above = paired_p_above(TEST_T, d, n, -margin);
    double below = paired_p_below(TEST_T, d, n, margin);
    return isnan(above) || isnan(below) ? (double)NAN : fmax(above, below);
}
