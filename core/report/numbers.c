/* SPDX-License-Identifier: MIT */
/* numbers.c: how numbers stand in a table. */
#include "report/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS_MAX = 15 };

/* Decimals that show `digits` significant digits of x, after rounding to them: 0.0996 with two is
 * 0.10. */
static int decimals_of(double x, int digits)
{
    char text[40];
    if (x == 0.0)
        return 0;
    snprintf(text, sizeof(text), "%.*e", digits - 1, fabs(x));
    const char *e = text;
    while (*e && *e != 'e')
        e++;
    int decimals = digits - 1 - (*e ? atoi(e + 1) : 0);
    return decimals < 0 ? 0 : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
}

void number_interval(struct strbuf *out, double x, double half, bool with_sign)
{
    number_spread(out, x, half, 2, with_sign);
}

const char *number_interval_text(struct arena *a, double x, double half, bool with_sign)
{
    struct strbuf out;
    strbuf_init(&out);
    number_interval(&out, x, half, with_sign);
    return strbuf_keep(&out, a);
}

/* Whose digits would fill a line. */
static bool is_long(double x)
{
    return fabs(x) >= 1e9 || (x != 0.0 && fabs(x) < 1e-9);
}

/* The decimal exponent of x after rounding to so many significant digits. */
static int exponent_of(double x, int digits)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*e", digits - 1, x);
    return atoi(strchr(text, 'e') + 1);
}

/* "1.234e+20 ± 1.2e+18" */
static void add_long(struct strbuf *out, double x, double half, int digits, bool with_sign)
{
    bool exact = !isfinite(half) || half == 0.0;
    int decimals = digits + 1;
    if (!exact && x != 0.0)
        decimals = exponent_of(x, digits) - exponent_of(half, digits) + digits - 1;
    decimals = decimals < 0 ? 0 : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
    if (x == 0.0)
        strbuf_add(out, "0");
    else
        strbuf_addf(out, with_sign ? "%+.*e" : "%.*e", decimals, x);
    if (half == 0.0)
        strbuf_add(out, " ± 0");
    else if (!exact)
        strbuf_addf(out, " ± %.*e", digits - 1, half);
}

void number_spread(struct strbuf *out, double x, double half, int digits, bool with_sign)
{
    if (!isfinite(x)) {
        strbuf_add(out, "-");
        return;
    }
    x = x == 0.0 ? 0.0 : x;     /* no sign */
    if (half < 1e-13 * fabs(x)) /* nothing but rounding */
        half = 0.0;
    bool exact = !isfinite(half) || half == 0.0;
    if (is_long(exact ? x : fmax(fabs(x), half))) {
        add_long(out, x, half, digits, with_sign);
        return;
    }
    int decimals = exact ? decimals_of(x, digits + 2) : decimals_of(half, digits);
    strbuf_addf(out, with_sign && x != 0.0 ? "%+.*f" : "%.*f", decimals, x);
    if (half == 0.0)
        strbuf_add(out, " ± 0");
    else if (!exact)
        strbuf_addf(out, " ± %.*f", decimals, half);
}

void number_count(struct strbuf *out, double x)
{
    static const char *const unit[] = {"", "k", "M", "G", "T", "P"};
    const double whole = x;
    size_t i = 0;
    if (!isfinite(x)) {
        strbuf_add(out, "-");
        return;
    }
    for (; i + 1 < sizeof(unit) / sizeof(*unit) && fabs(x) >= 999.5; i++)
        x /= 1000.0;
    if (fabs(x) >= 999.5) {
        strbuf_addf(out, "%.2e", whole);
        return;
    }
    int decimals = i == 0 || fabs(x) >= 99.95 ? 0 : fabs(x) >= 9.995 ? 1 : 2;
    strbuf_addf(out, "%.*f%s", decimals, x, unit[i]);
}

void number_ratio(struct strbuf *out, double x)
{
    if (isnan(x))
        strbuf_add(out, "-");
    else if (x >= 1.0)
        strbuf_addf(out, x < 1000.0 ? "%.3g : 1" : "%.0f : 1", x);
    else
        strbuf_addf(out, x > 1e-3 ? "1 : %.3g" : "1 : %.0f", 1.0 / x);
}

void number_p(struct strbuf *out, double p)
{
    if (isnan(p))
        strbuf_add(out, "-");
    else
        strbuf_addf(out, p < 0.001 ? "%.1e" : "%.3f", p);
}

const char *number_formed(struct arena *a, void (*number)(struct strbuf *, double), double x)
{
    struct strbuf out;
    strbuf_init(&out);
    number(&out, x);
    return strbuf_keep(&out, a);
}
