/* SPDX-License-Identifier: MIT */
/*
 * value.h: a tree of settings in which every leaf knows where the user wrote it.
 *
 * The experiment file, the command line and a cell's config.json all become such trees; merging,
 * typing and error messages work only on them. Trees live in an arena and are shared freely:
 * nothing is changed in place except by value_set on a map and value_append on a list the caller
 * made. Texts and keys are copied into the arena. Running out of memory ends the process.
 */
#pragma once

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

/* The place of a value that no file contains. */
static const struct place NOWHERE = {NULL, 0, 0};

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
    const char *text; /* TEXT: the text; other scalars: the text that the user wrote */
    int n, room;      /* LIST, MAP: items, and places for them */
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
/* Reads a plain scalar by the YAML 1.2 core schema: null ~ true false, decimal, 0o 0x, floats, .inf
 * .nan, otherwise text. */
struct value *value_scalar(struct arena *a, struct place at, const char *text);

void value_append(struct arena *a, struct value *list, struct value *item);
/* Adds or replaces a key. */
void value_set(struct arena *a, struct value *map, const char *key, struct place key_at,
               struct value *item);
/* Adds a key that the map does not have; saves the search of value_set. */
void value_set_new(struct arena *a, struct value *map, const char *key, struct place key_at,
                   struct value *item);
/* NULL when absent or not a map. */
struct value *value_get(const struct value *map, const char *key);
/* The key's place, or the map's own. */
struct place value_key_place(const struct value *map, const char *key);
/* The last part of a dotted key: "lr" of "train.lr". */
const char *key_name(const char *dotted);
/* The value of "model.d_model" in nested maps. */
struct value *value_get_path(const struct value *map, const char *dotted);
/* A copy of map in which the dotted path has the value item; missing maps on the way are made. */
struct value *value_with_path(struct arena *a, const struct value *map, const char *dotted,
                              struct place key_at, struct value *item);
/* A new map with the same items; anything but a map counts as an empty one, with the place
 * `otherwise`. */
struct value *value_map_copy(struct arena *a, const struct value *map, struct place otherwise);
/* The absolute path of the existing file that a text names: beside the file in which the text is
 * written, or from the current directory where it is of the command line. So it means the same
 * wherever it is read again. NULL: errno says why; *looked_for is the path that was tried. */
const char *value_path(struct arena *a, const struct value *v, const char **looked_for);
/* A copy of the tree with other texts: text_of gives the new text of a text, or NULL where it
 * stays. */
typedef const char *(*value_text_fn)(const void *ctx, const struct value *v);
struct value *value_with_texts(struct arena *a, const struct value *v, value_text_fn text_of,
                               const void *ctx);
/* Deep merge into a new tree: maps merge key by key, everything else is replaced by `over`.
 * Either may be NULL. Maps are new, lists and scalars are shared. */
struct value *value_merge(struct arena *a, struct value *base, struct value *over);
/* Equal content, without places; 1 and 1.0 are equal. */
bool value_equal(const struct value *a, const struct value *b);
/* True where both are there and are not equal. */
bool value_differs(const struct value *a, const struct value *b);
/* The number; NaN where v is NULL or not a number. */
double value_number(const struct value *v);
/* The number of items of a list, and its i-th item. Any other value counts as a list of itself. */
int value_count(const struct value *v);
struct value *value_item(const struct value *v, int i);
/* True where the list has an item that equals v, or this text. */
bool value_holds(const struct value *list, const struct value *v);
bool value_holds_text(const struct value *list, const char *text);

/* "file:line:column: text". Returns PEAT_INVALID. */
peat_status place_error(struct error *err, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A reader of settings is a struct that holds the error, never NULL. Its steps return whether they
 * succeeded and are joined by &&, so that the first mistake is the one that stays; the status is
 * read from the error once, by the function that made the reader. mistake() does what place_error
 * does, as such a step: it returns false. */
bool mistake(struct error *err, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
