/* SPDX-License-Identifier: MIT */
/* paramrow.h: the types of parameters and properties of rows, for the param*.c files and for code
 * that makes configs itself. */
#pragma once

#include "plugin/params.h"

#define WHOLE_MAX 9007199254740992.0 /* 2^53: beyond it doubles skip whole numbers */

/* A row of the table of types: everything that depends on the type of a parameter. */
struct param_type {
    const char *name;    /* "int", in listings                       */
    const char *word;    /* "a whole number", in messages            */
    size_t bytes, align; /* size and alignment of the field       */
    /* Writes the preset, or 0; NULL: a text or a list, which have no preset. */
    void (*write)(void *field, double x);
    struct value *(*show)(const peat_param *row, const void *field, struct arena *a);
    bool number, text;             /* accepts a list of such values too */
    const struct param_type *item; /* type of a list's items; NULL: not a list */
};

/* The layout of peat_strings and peat_reals. */
struct param_list {
    int64_t n;
    const void *item;
};
_Static_assert(sizeof(struct param_list) == sizeof(peat_strings) &&
                   sizeof(struct param_list) == sizeof(peat_reals),
               "a list is a number and a pointer");

/* NULL: an unknown type, which params_check refuses. */
const struct param_type *row_type(const peat_param *row);

/* Adds the allowed values, for one item of a list: params_allowed without unit and auto. */
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

/* The paths of a row with PEAT_PATH; some may be "" or NULL. */
static inline peat_strings row_paths(const peat_param *row, const void *config)
{
    const void *field = (const char *)config + row->offset;
    return row->type == PEAT_STRINGS ? *(const peat_strings *)field : (peat_strings){1, field};
}

static inline int rows_count(const peat_param *row)
{
    int n = 0;
    while (row && row[n].key)
        n++;
    return n;
}

static inline const peat_param *rows_find(const peat_param *row, const char *key)
{
    for (; row && row->key; row++)
        if (strcmp(row->key, key) == 0)
            return row;
    return NULL;
}
