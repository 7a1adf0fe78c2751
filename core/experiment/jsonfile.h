/* SPDX-License-Identifier: MIT */
/* jsonfile.h: the small JSON files of a run directory, read and written whole. */
#ifndef EXPERIMENT_JSONFILE_H
#define EXPERIMENT_JSONFILE_H

#include "base/value.h"

/* <dir>/<name> as a tree. PEAT_NOTFOUND when there is no such file. */
peat_status jsonfile_read(const char *dir, const char *name, struct arena *a, struct value **v,
                          struct error *err);
/* Leaves a file that holds the same bytes already as it is. */
peat_status jsonfile_write(const char *dir, const char *name, const struct value *v,
                           struct error *err);

/* The text under key; NULL when there is none or it is no text. */
const char *member_text(const struct value *map, const char *key);
/* The whole number under key, or `otherwise`. */
int64_t member_integer(const struct value *map, const char *key, int64_t otherwise);

void member_set_text(struct arena *a, struct value *map, const char *key, const char *text);
void member_set_integer(struct arena *a, struct value *map, const char *key, int64_t integer);

/* Shorter names for readers. Inline, since jansson exports functions of such names: a second one in
 * the program would be called in its place. */
static inline peat_status json_read(const char *dir, const char *name, struct arena *a,
                                    struct value **v, struct error *err)
{
    return jsonfile_read(dir, name, a, v, err);
}

static inline const char *json_text(const struct value *map, const char *key)
{
    return member_text(map, key);
}

static inline int64_t json_integer(const struct value *map, const char *key, int64_t otherwise)
{
    return member_integer(map, key, otherwise);
}

#endif
