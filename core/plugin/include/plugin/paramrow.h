/* SPDX-License-Identifier: MIT */
/* paramrow.h: small questions to parameter rows, shared by the param*.c files. */
#ifndef PLUGIN_PARAMROW_H
#define PLUGIN_PARAMROW_H

#include <math.h>
#include <string.h>

#include "plugin/params.h"

#define WHOLE_MAX 9007199254740992.0 /* 2^53: beyond it doubles skip whole numbers */

/* What one value, or one item of a list, may be: params_allowed without unit and auto. */
void row_allowed_one(const peat_param *row, struct strbuf *out);

static inline bool row_has_bounds(const peat_param *row)
{
    return row->min != 0 || row->max != 0;
}

static inline bool row_in_bounds(const peat_param *row, double x)
{
    if (!isfinite(x))
        return false;
    if (!row_has_bounds(row))
        return true;
    return (row->flags & PEAT_OPEN_MIN ? x > row->min : x >= row->min) && x <= row->max;
}

static inline int rows_count(const peat_param *row)
{
    int n = 0;
    while (row && row[n].key)
        n++;
    return n;
}

static inline int names_count(const char *const *name)
{
    int n = 0;
    while (name && name[n])
        n++;
    return n;
}

static inline int names_find(const char *const *name, const char *word)
{
    for (int i = 0; name && name[i]; i++)
        if (strcmp(name[i], word) == 0)
            return i;
    return -1;
}

static inline const peat_param *rows_find(const peat_param *row, const char *key)
{
    for (; row && row->key; row++)
        if (strcmp(row->key, key) == 0)
            return row;
    return NULL;
}

static inline void names_add(struct strbuf *out, const char *const *name)
{
    for (int i = 0; name && name[i]; i++)
        strbuf_addf(out, "%s%s", i > 0 ? ", " : "", name[i]);
}

#endif
