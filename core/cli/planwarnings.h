/* SPDX-License-Identifier: MIT */
/* planwarnings.h: warnings: a plan that may not be the one its author meant. */
#ifndef CLI_PLANWARNINGS_H
#define CLI_PLANWARNINGS_H

#include "experiment/plan.h"

/* Prints a line for each row that starts with tokens and positions of very different sizes, and for
 * each row that is the same model, trained the same way, as a row before it. */
void plan_warn(const struct plan *p, struct arena *a);

#endif
