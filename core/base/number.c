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

/* Every number of fifteen digits (a float: six) is read back from fifteen, and %g drops trailing
 * zeros; only subnormal numbers may need fewer. At some powers of two the nearest decimal of 16
 * digits does not read back although its neighbour does; these need 17. */
static void format(double x, bool single, char *buf)
{
    const double normal = single ? (double)FLT_MIN : DBL_MIN;
    const int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    for (int digits = fabs(x) < normal ? 1 : single ? FLT_DIG : DBL_DIG; digits <= most; digits++) {
        int n = snprintf(buf, NUMBER_TEXT, "%.*g", digits, x);
        if (n < NUMBER_TEXT && (single ? strtof(buf, NULL) == (float)x : strtod(buf, NULL) == x))
            return;
    }
}

/* Formats in the C locale, whatever the locale of the process. */
static void format_text(double x, bool single, char *buf)
{
    if (!isfinite(x)) {
        strcpy(buf, "null");
        return;
    }
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);
    format(x, single, buf);
    uselocale(before);
    freelocale(c);
}

void number_text(double x, char buf[NUMBER_TEXT])
{
    format_text(x, false, buf);
}

void number_text_single(float x, char buf[NUMBER_TEXT])
{
    format_text((double)x, true, buf);
}
