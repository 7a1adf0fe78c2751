/* SPDX-License-Identifier: MIT */
/* figures.h: a diagnosis is a tree of figures; these make it. */
#ifndef DIAGNOSE_FIGURES_H
#define DIAGNOSE_FIGURES_H

#include "base/jsonfile.h"

struct value *figures_map(struct arena *a);
struct value *figures_list(struct arena *a);
/* Six significant digits; NaN and infinities become null. */
struct value *figure(struct arena *a, double x);
void figure_set(struct arena *a, struct value *map, const char *key, double x);
/* n numbers. */
struct value *figure_row(struct arena *a, const double *x, int64_t n);
/* The number under key; NaN when there is none. */
double figure_get(const struct value *map, const char *key);
/* One plain sentence about a diagnostic. */
void summary_set(struct arena *a, struct value *map, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* {"skipped": why}: there are no figures. */
struct value *figures_skipped(struct arena *a, const char *why);

#endif
