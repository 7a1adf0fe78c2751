/* SPDX-License-Identifier: MIT */
/* seconds.c: durations, as a user writes them. */
#include "reading.h"

static double unit_seconds(const char *unit)
{
    static const char units[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    const char *known = *unit && !unit[1] ? strchr(units, *unit) : NULL;
    return known ? seconds[known - units] : (double)NAN;
}

bool seconds_read(struct reading *r, const struct value *section, const char *key, const char *what,
                  double *seconds)
{
    const struct value *v = value_get(section, key);
    double read = value_number(v);
    if (!v || v->kind == VALUE_NULL)
        return true;
    if (v->kind == VALUE_TEXT && v->text[0] >= '0' && v->text[0] <= '9') {
        size_t digits = strspn(v->text, "0123456789.");
        const char *number = arena_printf(r->a, "%.*s", (int)digits, v->text);
        read = value_number(value_scalar(r->a, v->at, number)) * unit_seconds(v->text + digits);
    }
    if (!(read >= 0 && read < 1e9))
        return mistake(r->err, v->at,
                       "'%s' in %s must be a time such as 90s, 30m, 2h or a number of seconds", key,
                       what);
    *seconds = read;
    return true;
}
