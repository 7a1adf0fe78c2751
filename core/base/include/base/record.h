/* SPDX-License-Identifier: MIT */
/*
 * record.h: kinds of JSON file: the name, format number and fields of each.
 *
 * Reading one checks all of it: a file that a newer program wrote is refused by its number, and a
 * field that is missing, of another kind or out of bounds is damage, which is named. Code that has
 * read a record may rely on its fields. Keys without a row are ignored.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"

/* The kinds of value that a field may have, and other conditions on it. */
enum field_flag {
    FIELD_NULL = 1 << VALUE_NULL,
    FIELD_BOOL = 1 << VALUE_BOOL,
    FIELD_INT = 1 << VALUE_INT,
    FIELD_NUMBER = 1 << VALUE_INT | 1 << VALUE_REAL,
    FIELD_TEXT = 1 << VALUE_TEXT,
    FIELD_LIST = 1 << VALUE_LIST,
    FIELD_MAP = 1 << VALUE_MAP,
    FIELD_NEEDED = 1 << 16, /* must not be missing    */
    FIELD_SIGNED = 1 << 17, /* numbers below 0 are allowed */
};

/* Rows end with a NULL key; a row with an empty key is skipped. A row with MEMBER also has the
 * offset of a struct's member for the value: a const char *, bool, int64_t or, for a FIELD_NUMBER,
 * double. */
struct field {
    const char *key;
    unsigned flags;             /* enum field_flag                             */
    unsigned items;             /* kinds of each value in a list, or in a map without rows; 0:
                                 * any */
    const struct field *inside; /* rows of the map, or of each map in the list; NULL: any fields */
    bool is_member;
    size_t member; /* the member's offset */
};

#define MEMBER(owner, name) .is_member = true, .member = offsetof(owner, name)

struct record {
    const char *name;   /* "result.json"                                                  */
    const char *number; /* key of the format's number; NULL: the file has none            */
    int64_t format;     /* the newest format, which is also the one that is written       */
    bool bare;          /* early files have no number; they are format 1                  */
    const struct field *field;
};

/* Puts the members of n rows into the map. A text that is NULL is left out where the field cannot
 * be null. */
void fields_put(struct json map, const struct field *row, int n, const void *from);
/* Sets the members of all rows. Texts are borrowed from the map; a member whose key is missing
 * becomes NULL, false, 0 or NaN. */
void fields_get(const struct value *map, const struct field *row, void *to);
/* PEAT_MISMATCH: a newer program wrote the record. PEAT_CORRUPT: it is damaged; the text says
 * where. path is for messages. */
peat_status record_check(const struct record *r, const struct value *v, const char *path,
                         struct error *err);
/* Reads <dir>/<name> by json_read_file and checks it. */
peat_status record_read(const char *dir, const struct record *r, struct arena *a, struct value **v,
                        struct error *err);
