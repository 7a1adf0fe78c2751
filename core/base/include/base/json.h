/* SPDX-License-Identifier: MIT */
/*
 * json.h: writing and reading JSON.
 *
 * A value (value.h) becomes text and text becomes a value; maps and lists are built member by
 * member; members of a map are read that may be missing or of another kind; and files are read and
 * written whole, with a seal.
 */
#pragma once

#include "base/hash.h"
#include "base/value.h"

/* ---- text ---- */

enum json_style {
    JSON_CANONICAL, /* keys sorted, no spaces, whole numbers as integers: equal values have equal
                     * texts */
    JSON_DENSE,     /* keys in their order, no spaces */
    JSON_LINE,      /* one line with spaces */
    JSON_INDENTED,  /* a line for each key, lists of scalars on one line; ends the last line */
};

/* Numbers have the shortest form that reads back, and a real stays a real ("1.0") in all styles but
 * the canonical. NaN and infinities become null, bytes that are not UTF-8 become U+FFFD. In all
 * styles but the canonical, control characters beyond ASCII and the characters that shown.h names
 * are \u escapes. */
void json_print(const struct value *v, enum json_style style, struct strbuf *out);
/* Returns what json_print prints, in the arena. */
const char *json_to_text(const struct value *v, enum json_style style, struct arena *a);
/* SHA-256 of the canonical text. */
void json_hash(const struct value *v, char hex[HASH_HEX]);
/* NULL when the text is not JSON; a duplicate key is an error. `file` names it in messages and
 * places (line 0), and is borrowed. */
struct value *json_parse(struct arena *a, const char *text, size_t n, const char *file,
                         struct error *err);

/* ---- building ---- */

/* A map or a list under construction: a handle, passed by value. Its members have no place. */
struct json {
    struct arena *a;
    struct value *v;
};

struct json json_map(struct arena *a);
struct json json_list(struct arena *a);

/* The members of the map with these keys (ended by NULL), in their order. */
struct json json_part(struct arena *a, const struct value *map, const char *const *key);
/* Adds or replaces. The item is shared, not copied; NULL becomes null. */
void json_put(struct json map, const char *key, const struct value *item);
/* NULL becomes null. */
void json_put_text(struct json map, const char *key, const char *text);
void json_put_int(struct json map, const char *key, int64_t integer);
void json_put_bool(struct json map, const char *key, bool boolean);
/* A real stays a real ("1.0"); NaN and infinities become null. */
void json_put_real(struct json map, const char *key, double real);
/* Whole numbers as integers ("1"); NaN and infinities become null. */
void json_put_number(struct json map, const char *key, double x);
/* An empty map or list under key, to be filled. */
struct json json_put_map(struct json map, const char *key);
struct json json_put_list(struct json map, const char *key);

/* Add an item at the end of a list. */
void json_add(struct json list, const struct value *item);
void json_add_text(struct json list, const char *text);
void json_add_int(struct json list, int64_t integer);
void json_add_real(struct json list, double real);
struct json json_add_map(struct json list);

/* ---- reading ---- */

/* The text under key; NULL, or `otherwise`, when the map has none. */
const char *json_get_text(const struct value *map, const char *key);
const char *json_text_or(const struct value *map, const char *key, const char *otherwise);
/* True where the text under key is this one. */
bool json_text_is(const struct value *map, const char *key, const char *text);
/* The whole number under key, or `otherwise`. */
int64_t json_get_int(const struct value *map, const char *key, int64_t otherwise);
/* The number under key; NaN when the map has none. */
double json_get_number(const struct value *map, const char *key);
/* True where the value under key is true. */
bool json_get_bool(const struct value *map, const char *key);
/* Number of items of the list under key; 0 when the map has no such list. */
int json_get_count(const struct value *map, const char *key);
/* The i-th item of the list under key; NULL after the last, and without a list. */
const struct value *json_get_item(const struct value *map, const char *key, int i);
/* True where both are not NULL and equal. */
bool same_text(const char *a, const char *b);

/* ---- seals ---- */

/*
 * A seal is a checksum inside a map, so that a flipped bit is damage and not another number.
 *
 * The last member, "check", is the SHA-256 of all the others in canonical form: order and spaces do
 * not count. A map without "check" was made by hand and is accepted.
 */
#define SEAL_KEY "check"

/* A copy of the map with its seal, which covers every other member. */
struct value *sealed(struct arena *a, const struct value *map);

enum seal { SEAL_ABSENT, SEAL_GOOD, SEAL_BROKEN };
enum seal seal_check(const struct value *map);

/* The seal of a line of a file in JSON Lines: `,"check":"<8 digits>"}` at its end covers all the
 * bytes before it. */
/* line holds an object's text; the seal goes before its closing brace. */
void seal_line(struct strbuf *line);
/* Checks n bytes, without the line's end. */
enum seal seal_check_line(const char *line, size_t n);

/* ---- files ---- */

/* The file as a tree; its seal is not checked. `name` replaces the path in messages about its
 * content. limit: bytes (0: no limit). PEAT_NOTFOUND when the file is missing, PEAT_CORRUPT when it
 * is not JSON. */
peat_status json_read(const char *path, const char *name, size_t limit, struct arena *a,
                      struct value **v, struct error *err);
/* Reads <dir>/<name>, a sealed map, checks its seal and removes it from the map. PEAT_CORRUPT also
 * when the seal is broken. */
peat_status json_read_file(const char *dir, const char *name, struct arena *a, struct value **v,
                           struct error *err);
/* True where <dir>/<name> can be read and has no seal, because it was made or changed by hand. */
bool json_lacks_seal(const char *dir, const char *name);
/* Writes the map with a seal. A file that has the same bytes already is not written. */
peat_status json_write_file(const char *dir, const char *name, const struct value *map,
                            struct error *err);
