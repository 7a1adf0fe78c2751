/* SPDX-License-Identifier: MIT */
/*
 * number.c: numbers as text and back.
 *
 * newlocale for "C" returns a constant of the C library, so each call is cheap.
 */

#include "base/base.h"
#include <locale.h>

double number_parse(const char *text)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double x = strtod_l(text, NULL, c);
    freelocale(c);
    return x;
}

/* A number of fifteen digits always reads back from fifteen digits, and %g drops trailing zeros;
 * only subnormal numbers have fewer. At some powers of two the nearest decimal of 16 digits does
 * not read back although its neighbour does; these need 17. */
static void format_real(double x, char *buf)
{
    for (int digits = fabs(x) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        int n = snprintf(buf, NUMBER_TEXT, "%.*g", digits, x);
        if (n < NUMBER_TEXT && strtod(buf, NULL) == x)
            return;
    }
}

/* The same for a float, which reads back from fewer digits. */
static void format_single(double x, char *buf)
{
    float single = (float)x;
    for (int digits = fabsf(single) < FLT_MIN ? 1 : FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        int n = snprintf(buf, NUMBER_TEXT, "%.*g", digits, x);
        if (n < NUMBER_TEXT && strtof(buf, NULL) == single)
            return;
    }
}

/* Parses in the C locale, whatever the locale of the process. */
static void format_text(double x, char *buf, void (*format)(double x, char *buf))
{
    if (!isfinite(x)) {
        strcpy(buf, "null");
        return;
    }
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);
    format(x, buf);
    uselocale(before);
    freelocale(c);
}

void number_text(double x, char buf[NUMBER_TEXT])
{
    format_text(x, buf, format_real);
}

void number_text_single(float x, char buf[NUMBER_TEXT])
{
    format_text((double)x, buf, format_single);
}
