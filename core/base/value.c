/* SPDX-License-Identifier: MIT */
/* value.c: makes, searches, merges and compares trees of settings. */

#include "base/base.h"

static struct value *value_new(struct arena *a, enum value_kind kind, struct place at)
{
    struct value *v = ARENA_NEW(a, struct value);
    v->kind = kind;
    v->at = at;
    return v;
}

struct value *value_null(struct arena *a, struct place at)
{
    struct value *v = value_new(a, VALUE_NULL, at);
    v->text = "null";
    return v;
}

struct value *value_bool(struct arena *a, struct place at, bool boolean)
{
    struct value *v = value_new(a, VALUE_BOOL, at);
    v->boolean = boolean;
    v->text = boolean ? "true" : "false";
    return v;
}

struct value *value_int(struct arena *a, struct place at, int64_t integer)
{
    struct value *v = value_new(a, VALUE_INT, at);
    v->integer = integer;
    v->real = (double)integer;
    v->text = arena_printf(a, "%" PRId64, integer);
    return v;
}

struct value *value_real(struct arena *a, struct place at, double real)
{
    char text[NUMBER_TEXT];
    number_text(real, text);
    struct value *v = value_new(a, VALUE_REAL, at);
    v->real = real;
    v->text = arena_strdup(a, text);
    return v;
}

struct value *value_text(struct arena *a, struct place at, const char *text)
{
    struct value *v = value_new(a, VALUE_TEXT, at);
    v->text = arena_strdup(a, text);
    return v;
}

struct value *value_list(struct arena *a, struct place at)
{
    return value_new(a, VALUE_LIST, at);
}

struct value *value_map(struct arena *a, struct place at)
{
    return value_new(a, VALUE_MAP, at);
}

void value_append(struct arena *a, struct value *list, struct value *item)
{
    BUG_UNLESS(list->kind == VALUE_LIST);
    *ARENA_APPEND(a, list->item, list->n, list->room) = item;
}

/* The key is not copied. */
static void map_append(struct arena *a, struct value *map, const char *key, struct place key_at,
                       struct value *item)
{
    int n = map->n, room = map->room, same_room = map->room;
    map->item = arena_grow(a, map->item, n, &map->room, sizeof(*map->item));
    map->key = arena_grow(a, map->key, n, &room, sizeof(*map->key));
    map->key_at = arena_grow(a, map->key_at, n, &same_room, sizeof(*map->key_at));
    map->item[n] = item;
    map->key[n] = key;
    map->key_at[n] = key_at;
    map->n = n + 1;
}

/* Keys need not end with a 0, so parts of dotted paths are looked up in place. */
static int find_key(const struct value *map, const char *key, size_t length)
{
    if (!map || map->kind != VALUE_MAP)
        return -1;
    for (int i = 0; i < map->n; i++)
        if (!strncmp(map->key[i], key, length) && !map->key[i][length])
            return i;
    return -1;
}

void value_set(struct arena *a, struct value *map, const char *key, struct place key_at,
               struct value *item)
{
    BUG_UNLESS(map->kind == VALUE_MAP);
    int i = find_key(map, key, strlen(key));
    if (i < 0) {
        map_append(a, map, arena_strdup(a, key), key_at, item);
        return;
    }
    map->item[i] = item;
    map->key_at[i] = key_at;
}

void value_set_new(struct arena *a, struct value *map, const char *key, struct place key_at,
                   struct value *item)
{
    BUG_UNLESS(map->kind == VALUE_MAP);
    map_append(a, map, arena_strdup(a, key), key_at, item);
}

struct value *value_get(const struct value *map, const char *key)
{
    int i = find_key(map, key, strlen(key));
    return i < 0 ? NULL : map->item[i];
}

struct place value_key_place(const struct value *map, const char *key)
{
    int i = find_key(map, key, strlen(key));
    return i < 0 ? map->at : map->key_at[i];
}

const char *key_name(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');
    return dot ? dot + 1 : dotted;
}

struct value *value_get_path(const struct value *map, const char *dotted)
{
    for (;;) {
        size_t length = strcspn(dotted, ".");
        int i = find_key(map, dotted, length);
        if (i < 0 || !dotted[length])
            return i < 0 ? NULL : map->item[i];
        map = map->item[i];
        dotted += length + 1;
    }
}

struct value *value_map_copy(struct arena *a, const struct value *map, struct place otherwise)
{
    if (!map || map->kind != VALUE_MAP)
        return value_map(a, otherwise);
    struct value *copy = value_map(a, map->at);
    for (int i = 0; i < map->n; i++)
        map_append(a, copy, map->key[i], map->key_at[i], map->item[i]);
    return copy;
}

struct value *value_with_path(struct arena *a, const struct value *map, const char *dotted,
                              struct place key_at, struct value *item)
{
    struct value *root = value_map_copy(a, map, key_at), *level = root;
    for (;;) {
        size_t length = strcspn(dotted, ".");
        const char *key = arena_printf(a, "%.*s", (int)length, dotted);
        if (!dotted[length]) {
            value_set(a, level, key, key_at, item);
            return root;
        }
        struct value *old = value_get(level, key);
        struct value *next = value_map_copy(a, old, key_at);
        struct place at = old ? value_key_place(level, key) : key_at;
        value_set(a, level, key, at, next);
        level = next;
        dotted += length + 1;
    }
}

const char *value_path(struct arena *a, const struct value *v, const char **looked_for)
{
    bool from_here = !v->at.file || strcmp(v->at.file, "command line") == 0;
    char *beside = path_beside(from_here ? "" : v->at.file, v->text);
    char *absolute = realpath(beside, NULL);
    int why = errno;
    const char *path = absolute ? arena_strdup(a, absolute) : NULL;
    *looked_for = arena_strdup(a, beside);
    free(absolute);
    free(beside);
    errno = why;
    return path;
}

struct value *value_with_texts(struct arena *a, const struct value *v, value_text_fn text_of,
                               const void *ctx)
{
    const char *text = v->kind == VALUE_TEXT ? text_of(ctx, v) : NULL;
    if (v->kind != VALUE_LIST && v->kind != VALUE_MAP)
        return text ? value_text(a, v->at, text) : (struct value *)(uintptr_t)v;
    struct value *copy = value_new(a, v->kind, v->at);
    for (int i = 0; i < v->n; i++) {
        struct value *item = value_with_texts(a, v->item[i], text_of, ctx);
        if (v->kind == VALUE_LIST)
            value_append(a, copy, item);
        else
            map_append(a, copy, v->key[i], v->key_at[i], item);
    }
    return copy;
}

struct value *value_merge(struct arena *a, struct value *base, struct value *over)
{
    struct value *top = over ? over : base;
    if (!top || top->kind != VALUE_MAP)
        return top;
    struct value *merged = value_map(a, top->at);
    if (base && base->kind == VALUE_MAP) {
        for (int i = 0; i < base->n; i++) {
            int j = find_key(over, base->key[i], strlen(base->key[i]));
            map_append(a, merged, base->key[i], j < 0 ? base->key_at[i] : over->key_at[j],
                       value_merge(a, base->item[i], j < 0 ? NULL : over->item[j]));
        }
    }
    for (int j = 0; over && j < over->n; j++)
        if (find_key(base, over->key[j], strlen(over->key[j])) < 0)
            map_append(a, merged, over->key[j], over->key_at[j],
                       value_merge(a, NULL, over->item[j]));
    return merged;
}

/* 2^63 and above do not fit int64_t; -2^63 does. */
static bool is_integer(double real, int64_t integer)
{
    return real >= -0x1p63 && real < 0x1p63 && real == trunc(real) && (int64_t)real == integer;
}

static bool number_equal(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_INT && b->kind == VALUE_INT)
        return a->integer == b->integer;
    if (a->kind == VALUE_INT)
        return is_integer(b->real, a->integer);
    if (b->kind == VALUE_INT)
        return is_integer(a->real, b->integer);
    return a->real == b->real || (isnan(a->real) && isnan(b->real));
}

static bool items_equal(const struct value *a, const struct value *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        int j = a->kind == VALUE_MAP ? find_key(b, a->key[i], strlen(a->key[i])) : i;
        if (j < 0 || !value_equal(a->item[i], b->item[j]))
            return false;
    }
    return true;
}

static bool is_number(const struct value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_REAL;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a == b)
        return true;
    if (!a || !b)
        return false;
    if (is_number(a) && is_number(b))
        return number_equal(a, b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_BOOL:
        return a->boolean == b->boolean;
    case VALUE_TEXT:
        return !strcmp(a->text, b->text);
    case VALUE_LIST:
    case VALUE_MAP:
        return items_equal(a, b);
    default:
        return true;
    }
}

bool value_differs(const struct value *a, const struct value *b)
{
    return a && b && !value_equal(a, b);
}

double value_number(const struct value *v)
{
    return v && (v->kind == VALUE_INT || v->kind == VALUE_REAL) ? v->real : (double)NAN;
}

int value_count(const struct value *v)
{
    return v->kind == VALUE_LIST ? v->n : 1;
}

struct value *value_item(const struct value *v, int i)
{
    return v->kind == VALUE_LIST ? v->item[i] : (struct value *)(uintptr_t)v;
}

bool value_holds(const struct value *list, const struct value *v)
{
    for (int i = 0; i < list->n; i++)
        if (value_equal(list->item[i], v))
            return true;
    return false;
}

bool value_holds_text(const struct value *list, const char *text)
{
    return value_holds(list, &(struct value){.kind = VALUE_TEXT, .text = text});
}

static void place_args(struct error *err, struct place at, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

static void place_args(struct error *err, struct place at, const char *fmt, va_list args)
{
    error_set_args(err, PEAT_INVALID, fmt, args);
    if (at.file && at.line > 0 && at.column > 0)
        error_prefix(err, "%s:%d:%d", at.file, at.line, at.column);
    else if (at.file && at.line > 0)
        error_prefix(err, "%s:%d", at.file, at.line);
    else if (at.file)
        error_prefix(err, "%s", at.file);
}

peat_status place_error(struct error *err, struct place at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    place_args(err, at, fmt, args);
    va_end(args);
    return PEAT_INVALID;
}

bool mistake(struct error *err, struct place at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    place_args(err, at, fmt, args);
    va_end(args);
    return false;
}
