/* SPDX-License-Identifier: MIT */
/* scalar.c: reads plain scalars of YAML. */

#include "base/base.h"

static const char *skip_digits(const char *s, const char *digits)
{
    return s + strspn(s, digits);
}

static const char *skip_sign(const char *s)
{
    return s + (*s == '+' || *s == '-');
}

/* [-+]? [0-9]+ */
static bool is_decimal(const char *text)
{
    const char *first = skip_sign(text), *end = skip_digits(first, "0123456789");
    return end > first && !*end;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_float(const char *text)
{
    const char *whole = skip_sign(text), *s = skip_digits(whole, "0123456789");
    bool digits = s > whole;
    if (*s == '.') {
        const char *fraction = skip_digits(s + 1, "0123456789");
        digits = digits || fraction > s + 1;
        s = fraction;
    }
    if (!digits)
        return false;
    if (*s == 'e' || *s == 'E') {
        const char *exponent = skip_sign(s + 1);
        s = skip_digits(exponent, "0123456789");
        if (s == exponent)
            return false;
    }
    return !*s;
}

/* 0o[0-7]+ or 0x[0-9a-fA-F]+; the base, or 0. */
static int prefixed_base(const char *text)
{
    if (text[0] != '0' || (text[1] != 'o' && text[1] != 'x') || !text[2])
        return 0;
    const char *digits = text[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";
    if (*skip_digits(text + 2, digits))
        return 0;
    return text[1] == 'o' ? 8 : 16;
}

/* Digits that do not fit into 64 bits. Each step rounds, so the last bit may be wrong. */
static double large_real(const char *digits, int base)
{
    double x = 0.0;
    for (; *digits; digits++) {
        const char one[2] = {*digits, '\0'};
        x = x * base + (double)strtol(one, NULL, 16);
    }
    return x;
}

static struct value *integer_or_real(struct arena *a, struct place at, const char *text, int base)
{
    errno = 0;
    intmax_t integer = strtoimax(base == 10 ? text : text + 2, NULL, base);
    if (errno != ERANGE && integer >= INT64_MIN && integer <= INT64_MAX)
        return value_int(a, at, (int64_t)integer);
    return value_real(a, at, base == 10 ? number_parse(text) : large_real(text + 2, base));
}

static struct value *untyped_scalar(struct arena *a, struct place at, const char *text)
{
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    static const char *const infinite[] = {".inf", ".Inf", ".INF", NULL};
    static const char *const not_a_number[] = {".nan", ".NaN", ".NAN", NULL};

    if (names_find(null, text) >= 0)
        return value_null(a, at);
    if (names_find(yes, text) >= 0 || names_find(no, text) >= 0)
        return value_bool(a, at, names_find(yes, text) >= 0);
    if (is_decimal(text))
        return integer_or_real(a, at, text, 10);
    if (prefixed_base(text))
        return integer_or_real(a, at, text, prefixed_base(text));
    if (is_float(text))
        return value_real(a, at, number_parse(text));
    if (names_find(infinite, skip_sign(text)) >= 0)
        return value_real(a, at, text[0] == '-' ? -(double)INFINITY : (double)INFINITY);
    if (names_find(not_a_number, text) >= 0)
        return value_real(a, at, (double)NAN);
    return value_text(a, at, text);
}

struct value *value_scalar(struct arena *a, struct place at, const char *text)
{
    struct value *v = untyped_scalar(a, at, text);
    v->text = arena_strdup(a, text);
    return v;
}
