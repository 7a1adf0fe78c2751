/* SPDX-License-Identifier: MIT */
/*
 * value.h: a tree of settings in which every leaf knows where the user wrote it.
 *
 * The experiment file, the command line and a cell's config.json all become such trees; merging,
 * typing and error messages work on them alone. Trees live in an arena and are shared freely:
 * nothing is changed in place except by value_set on a map and value_append on a list the caller
 * made. Texts and keys are copied into the arena. Running out of memory is fatal, as in strbuf.h.
 */
#ifndef BASE_VALUE_H
#define BASE_VALUE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/* Where a value was written. file is borrowed for the life of the tree; line 0: unknown;
 * column 0: the whole line ("command line:2"). */
struct place {
    const char *file;
    int line, column;
};

enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_MAP
};

struct value {
    enum value_kind kind;
    struct place at;
    bool boolean;
    int64_t integer;
    double real;      /* set for INT too */
    const char *text; /* TEXT: the text; other scalars: as the user wrote them */
    int n;            /* LIST, MAP */
    struct value **item;
    const char **key;     /* MAP */
    struct place *key_at; /* MAP */
};

struct value *value_null(struct arena *a, struct place at);
struct value *value_bool(struct arena *a, struct place at, bool boolean);
struct value *value_int(struct arena *a, struct place at, int64_t integer);
struct value *value_real(struct arena *a, struct place at, double real);
struct value *value_text(struct arena *a, struct place at, const char *text);
struct value *value_list(struct arena *a, struct place at);
struct value *value_map(struct arena *a, struct place at);
/* A plain scalar by the YAML 1.2 core schema: null ~ true false, decimal, 0o 0x, floats, .inf .nan,
 * else text. */
struct value *value_scalar(struct arena *a, struct place at, const char *text);

void value_append(struct arena *a, struct value *list, struct value *item);
/* Adds or replaces. */
void value_set(struct arena *a, struct value *map, const char *key, struct place key_at,
               struct value *item);
/* NULL when absent or not a map. */
struct value *value_get(const struct value *map, const char *key);
/* Where the key stands, or the map's own place. */
struct place value_key_place(const struct value *map, const char *key);
/* "model.d_model" through nested maps. */
struct value *value_get_path(const struct value *map, const char *dotted);
/* A copy of map in which the dotted path is item; maps on the way are made. */
struct value *value_with_path(struct arena *a, const struct value *map, const char *dotted,
                              struct place key_at, struct value *item);
/* Deep merge into a new tree: maps merge key by key, everything else is replaced by `over`.
 * Either may be NULL. Maps are new, lists and scalars are shared. */
struct value *value_merge(struct arena *a, struct value *base, struct value *over);
/* Equal content; places do not count, 1 and 1.0 are equal. */
bool value_equal(const struct value *a, const struct value *b);

/* JSON text. Canonical: keys sorted, no spaces, numbers in their shortest form that reads back and
 * whole ones as integers, so that equal values give equal texts. Otherwise keys in their order,
 * and a real stays a real ("1.0"). indent 0: one line; else one line for each key, and lists of
 * scalars on one line. Bytes that are not UTF-8 become U+FFFD. */
void value_to_json(const struct value *v, bool canonical, int indent, struct strbuf *out);
/* Before any use of jansson: running out of memory in it is fatal, as in trees. Its own parser
 * calls that a mistake in the text. */
void json_start(void);
/* Parse JSON; duplicate keys are errors; `file` names it in messages and places (line 0). NULL
 * on error. */
struct value *value_from_json(struct arena *a, const char *text, size_t n, const char *file,
                              struct error *err);
/* The shortest decimal that reads back as x; "null" for NaN and infinities. buf: 32 bytes. */
void number_text(double x, char *buf);
/* The same for a float: 0.1f is "0.1". */
void number_text_single(float x, char *buf);

/* "file:line:column: text". Returns PEAT_INVALID. */
peat_status place_error(struct error *err, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
