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
static void format(double x, char *buf)
{
    for (int digits = fabs(x) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        int n = snprintf(buf, NUMBER_TEXT, "%.*g", digits, x);
        if (n < NUMBER_TEXT && strtod(buf, NULL) == x)
            return;
    }
}

/* Formats in the C locale, whatever the locale of the process. */
void number_text(double x, char buf[NUMBER_TEXT])
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
