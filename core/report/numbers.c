/* SPDX-License-Identifier: MIT */
/* numbers.c: numbers as a table shows them. */
#include "report/numbers.h"

enum { DECIMALS_MAX = 15 };

const char *number_interval(struct arena *a, double x, double half, bool with_sign)
{
    return number_spread(a, x, half, 2, with_sign);
}

const char *number_half(struct arena *a, double half)
{
    return isfinite(half) ? strstr(number_interval(a, 0.0, half, false), "±") : "-";
}

/* True where the digits would be too long for a line. */
static bool is_long(double x)
{
    return fabs(x) >= 1e9 || (x != 0.0 && fabs(x) < 1e-9);
}

/* The decimal exponent of x after rounding to so many significant digits: that of 0.0996 with two
 * is -1. */
static int exponent_of(double x, int digits)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*e", digits - 1, x);
    return atoi(strchr(text, 'e') + 1);
}

static int bounded(int decimals)
{
    return decimals < 0 ? 0 : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
}

/* Decimals that show `digits` significant digits of x, after rounding to them. */
static int decimals_of(double x, int digits)
{
    return x == 0.0 ? 0 : bounded(digits - 1 - exponent_of(x, digits));
}

const char *number_spread(struct arena *a, double x, double half, int digits, bool with_sign)
{
    if (!isfinite(x))
        return "-";
    x = x == 0.0 ? 0.0 : x;     /* without a sign */
    if (half < 1e-13 * fabs(x)) /* the half-width is only rounding */
        half = 0.0;
    bool exact = !isfinite(half) || half == 0.0, sign = with_sign && x != 0.0;
    const char *number, *spread = half == 0.0 ? " ± 0" : "";
    if (is_long(exact ? x : fmax(fabs(x), half))) {
        int decimals =
            exact ? digits + 1
                  : bounded(exponent_of(x, digits) - exponent_of(half, digits) + digits - 1);
        number = x == 0.0 ? "0" : arena_printf(a, sign ? "%+.*e" : "%.*e", decimals, x);
        spread = exact ? spread : arena_printf(a, " ± %.*e", digits - 1, half);
    } else {
        int decimals = exact ? decimals_of(x, digits + 2) : decimals_of(half, digits);
        number = arena_printf(a, sign ? "%+.*f" : "%.*f", decimals, x);
        spread = exact ? spread : arena_printf(a, " ± %.*f", decimals, half);
    }
    return arena_printf(a, "%s%s", number, spread);
}

const char *number_count(struct arena *a, double x)
{
    static const char *const unit[] = {"", "k", "M", "G", "T", "P"};
    const double whole = x;
    size_t i = 0;
    if (!isfinite(x))
        return "-";
    for (; i + 1 < sizeof(unit) / sizeof(*unit) && fabs(x) >= 999.5; i++)
        x /= 1000.0;
    if (fabs(x) >= 999.5)
        return arena_printf(a, "%.2e", whole);
    int decimals = i == 0 || fabs(x) >= 99.95 ? 0 : fabs(x) >= 9.995 ? 1 : 2;
    return arena_printf(a, "%.*f%s", decimals, x, unit[i]);
}

const char *number_ratio(struct arena *a, double x)
{
    if (isnan(x))
        return "-";
    if (x >= 1.0)
        return arena_printf(a, x < 1000.0 ? "%.3g : 1" : "%.0f : 1", x);
    return arena_printf(a, x > 1e-3 ? "1 : %.3g" : "1 : %.0f", 1.0 / x);
}

const char *number_p(struct arena *a, double p)
{
    return isnan(p) ? "-" : arena_printf(a, p < 0.001 ? "%.1e" : "%.3f", p);
}

const char *number_tested_p(struct arena *a, enum paired_test test, double p, int n, int m)
{
    if (isnan(p) || paired_can_show(test, n, m))
        return number_p(a, p);
    return arena_printf(a, "needs %d seeds", paired_pairs_needed(test, 2, m, STATS_LEVEL));
}
