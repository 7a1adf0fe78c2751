/* SPDX-License-Identifier: MIT */
/* jsonmap.h: JSON maps under construction; null stands for what is not defined. */
#ifndef BASE_JSONMAP_H
#define BASE_JSONMAP_H

#include <math.h>

#include "base/value.h"

static const struct place jsonmap_nowhere = {NULL, 0, 0};

struct jsonmap {
    struct arena *a;
    struct value *v;
};

static inline struct jsonmap jsonmap_new(struct arena *a)
{
    return (struct jsonmap){a, value_map(a, jsonmap_nowhere)};
}

static inline struct value *jsonmap_list(struct arena *a)
{
    return value_list(a, jsonmap_nowhere);
}

static inline void jsonmap_put(struct jsonmap *m, const char *key, struct value *v)
{
    value_set(m->a, m->v, key, jsonmap_nowhere, v);
}

static inline void jsonmap_text(struct jsonmap *m, const char *key, const char *text)
{
    jsonmap_put(m, key,
                text ? value_text(m->a, jsonmap_nowhere, text) : value_null(m->a, jsonmap_nowhere));
}

static inline void jsonmap_int(struct jsonmap *m, const char *key, int64_t x)
{
    jsonmap_put(m, key, value_int(m->a, jsonmap_nowhere, x));
}

/* Whole numbers as such. */
static inline void jsonmap_number(struct jsonmap *m, const char *key, double x)
{
    bool whole = fabs(x) < 9e15 && x == floor(x);
    jsonmap_put(m, key,
                !isfinite(x) ? value_null(m->a, jsonmap_nowhere)
                : whole      ? value_int(m->a, jsonmap_nowhere, (int64_t)x)
                             : value_real(m->a, jsonmap_nowhere, x));
}

#endif
