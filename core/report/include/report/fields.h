/* SPDX-License-Identifier: MIT */
/* fields.h: members of JSON maps that may be missing or of another kind. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include <math.h>
#include <string.h>

#include "base/jsonfile.h"

/* NaN when absent. */
static inline double field_number(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && (v->kind == VALUE_INT || v->kind == VALUE_REAL) ? v->real : (double)NAN;
}

static inline bool field_true(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_BOOL && v->boolean;
}

/* Items of a list; 0 for what is none. */
static inline int field_count(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_LIST ? v->n : 0;
}

static inline bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

#endif
