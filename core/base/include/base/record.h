/* SPDX-License-Identifier: MIT */
/*
 * record.h: kinds of JSON file: what each is called, the number of its format, what stands in it.
 *
 * Reading one checks all of it: a file that a newer program wrote is refused by its number, and a
 * field that is missing, of another kind or out of bounds is damage, which is named. Who has read a
 * record may rely on its fields. Keys without a row are passed over.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"

/* Which kinds of value a field may be, and what else is asked of it. */
enum field_flag {
    FIELD_NULL = 1 << VALUE_NULL,
    FIELD_BOOL = 1 << VALUE_BOOL,
    FIELD_INT = 1 << VALUE_INT,
    FIELD_NUMBER = 1 << VALUE_INT | 1 << VALUE_REAL,
    FIELD_TEXT = 1 << VALUE_TEXT,
    FIELD_LIST = 1 << VALUE_LIST,
    FIELD_MAP = 1 << VALUE_MAP,
    FIELD_NEEDED = 1 << 16, /* may not be missing     */
    FIELD_SIGNED = 1 << 17, /* numbers below 0 are fine */
};

/* Rows end with a key that is NULL; one with an empty key is passed over. With MEMBER a row also
 * says which member of a struct has the value: a const char *, bool, int64_t or, of a FIELD_NUMBER,
 * double.
 */
struct field {
    const char *key;
    unsigned flags;             /* enum field_flag                             */
    unsigned items;             /* of a list, or of a map without rows: of each of its values;
                                   0: anything                                 */
    const struct field *inside; /* of the map, or of each map in the list; NULL: anything */
    bool is_member;
    size_t member; /* its offset */
};

#define MEMBER(owner, name) .is_member = true, .member = offsetof(owner, name)

struct record {
    const char *name;   /* "result.json"                                                  */
    const char *number; /* the key of its format; NULL: has none                          */
    int64_t format;     /* the newest, which is also the one that is written              */
    bool bare;          /* early ones have no number, and are format 1                    */
    const struct field *field;
};

/* Puts the members of n rows into the map. A text that is NULL is left out where the field cannot
 * be null. */
void fields_put(struct json map, const struct field *row, int n, const void *from);
/* Sets the members of all rows. Texts are borrowed from the map; a member whose key is missing
 * becomes NULL, false, 0 or NaN. */
void fields_get(const struct value *map, const struct field *row, void *to);
/* PEAT_MISMATCH: a newer program wrote it. PEAT_CORRUPT: it is damaged; the text says where.
 * path names it in messages. */
peat_status record_check(const struct record *r, const struct value *v, const char *path,
                         struct error *err);
/* <dir>/<name> by json_read_file, checked. */
peat_status record_read(const char *dir, const struct record *r, struct arena *a, struct value **v,
                        struct error *err);
