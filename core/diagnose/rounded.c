/* SPDX-License-Identifier: MIT */
/* rounded.c: numbers and sentences as a diagnosis shows them. */
#include "rounded.h"

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g", x);
    return isfinite(x) ? strtod(text, NULL) + 0.0 : x;
}

void put_rounded(struct json map, const char *key, double x)
{
    json_put_real(map, key, rounded(x));
}

void add_rounded(struct json list, double x)
{
    json_add_real(list, rounded(x));
}

void put_rounded_row(struct json map, const char *key, const double *x, int64_t n)
{
    struct json list = json_put_list(map, key);
    for (int64_t i = 0; i < n; i++)
        add_rounded(list, x[i]);
}

void put_summary(struct json map, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    json_put_text(map, "summary", arena_vprintf(map.a, fmt, args));
    va_end(args);
}

double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}
