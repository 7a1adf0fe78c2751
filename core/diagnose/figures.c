/* SPDX-License-Identifier: MIT */
/* figures.c: numbers as a diagnosis shows them. */
#include "diagnose/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct place nowhere = {NULL, 0, 0};

struct value *figures_map(struct arena *a)
{
    return value_map(a, nowhere);
}

struct value *figures_list(struct arena *a)
{
    return value_list(a, nowhere);
}

struct value *figure(struct arena *a, double x)
{
    char text[32];
    if (!isfinite(x))
        return value_null(a, nowhere);
    snprintf(text, sizeof(text), "%.6g", x);
    return value_real(a, nowhere, strtod(text, NULL) + 0.0);
}

void figure_set(struct arena *a, struct value *map, const char *key, double x)
{
    member_set(a, map, key, figure(a, x));
}

struct value *figure_row(struct arena *a, const double *x, int64_t n)
{
    struct value *list = figures_list(a);
    for (int64_t i = 0; i < n; i++)
        value_append(a, list, figure(a, x[i]));
    return list;
}

double figure_get(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && (v->kind == VALUE_REAL || v->kind == VALUE_INT) ? v->real : (double)NAN;
}

void summary_set(struct arena *a, struct value *map, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    member_set_text(a, map, "summary", arena_strdup(a, text));
}

struct value *figures_skipped(struct arena *a, const char *why)
{
    struct value *v = figures_map(a);
    member_set_text(a, v, "skipped", why);
    return v;
}
