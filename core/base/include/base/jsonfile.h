/* SPDX-License-Identifier: MIT */
/*
 * jsonfile.h: the small JSON files of a run directory, read and written whole.
 *
 * Each is a map with a seal (base/seal.h), which is checked and taken off when it is read.
 */
#ifndef BASE_JSONFILE_H
#define BASE_JSONFILE_H

#include "base/value.h"

/* <dir>/<name> as a tree. PEAT_NOTFOUND when there is no such file, PEAT_CORRUPT when it is no
 * JSON or its seal is broken. */
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
/* NaN and infinities become null: there is no such number. */
void member_set_real(struct arena *a, struct value *map, const char *key, double real);
void member_set(struct arena *a, struct value *map, const char *key, struct value *item);

#endif
