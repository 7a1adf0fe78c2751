/* SPDX-License-Identifier: MIT */
/* json.c: maps and lists under construction, and members that may be missing. */

#include "base/base.h"

struct json json_map(struct arena *a)
{
    return (struct json){a, value_map(a, NOWHERE)};
}

struct json json_list(struct arena *a)
{
    return (struct json){a, value_list(a, NOWHERE)};
}

/* ---- values ---- */

static struct value *text_or_null(struct arena *a, const char *text)
{
    return text ? value_text(a, NOWHERE, text) : NULL;
}

static struct value *real_or_null(struct arena *a, double real)
{
    return isfinite(real) ? value_real(a, NOWHERE, real) : NULL;
}

static struct value *number_or_null(struct arena *a, double x)
{
    bool whole = fabs(x) < 9e15 && x == floor(x);
    return whole ? value_int(a, NOWHERE, (int64_t)x) : real_or_null(a, x);
}

/* ---- maps ---- */

struct json json_part(struct arena *a, const struct value *map, const char *const *key)
{
    struct json part = json_map(a);
    for (; *key; key++)
        if (value_get(map, *key))
            json_put(part, *key, value_get(map, *key));
    return part;
}

void json_put(struct json map, const char *key, const struct value *item)
{
    /* The const is removed, but nothing changes an item through the tree that shares it. */
    struct value *shared = (struct value *)(uintptr_t)item;
    value_set(map.a, map.v, key, NOWHERE, item ? shared : value_null(map.a, NOWHERE));
}

void json_put_text(struct json map, const char *key, const char *text)
{
    json_put(map, key, text_or_null(map.a, text));
}

void json_put_int(struct json map, const char *key, int64_t integer)
{
    json_put(map, key, value_int(map.a, NOWHERE, integer));
}

void json_put_bool(struct json map, const char *key, bool boolean)
{
    json_put(map, key, value_bool(map.a, NOWHERE, boolean));
}

void json_put_real(struct json map, const char *key, double real)
{
    json_put(map, key, real_or_null(map.a, real));
}

void json_put_number(struct json map, const char *key, double x)
{
    json_put(map, key, number_or_null(map.a, x));
}

struct json json_put_map(struct json map, const char *key)
{
    struct json child = json_map(map.a);
    json_put(map, key, child.v);
    return child;
}

struct json json_put_list(struct json map, const char *key)
{
    struct json child = json_list(map.a);
    json_put(map, key, child.v);
    return child;
}

/* ---- lists ---- */

void json_add(struct json list, const struct value *item)
{
    struct value *shared = (struct value *)(uintptr_t)item;
    value_append(list.a, list.v, item ? shared : value_null(list.a, NOWHERE));
}

void json_add_text(struct json list, const char *text)
{
    json_add(list, text_or_null(list.a, text));
}

void json_add_int(struct json list, int64_t integer)
{
    json_add(list, value_int(list.a, NOWHERE, integer));
}

void json_add_real(struct json list, double real)
{
    json_add(list, real_or_null(list.a, real));
}

struct json json_add_map(struct json list)
{
    struct json child = json_map(list.a);
    json_add(list, child.v);
    return child;
}

/* ---- reading ---- */

static const struct value *get_kind(const struct value *map, const char *key, enum value_kind kind)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == kind ? v : NULL;
}

const char *json_get_text(const struct value *map, const char *key)
{
    const struct value *v = get_kind(map, key, VALUE_TEXT);
    return v ? v->text : NULL;
}

const char *json_text_or(const struct value *map, const char *key, const char *otherwise)
{
    const char *text = json_get_text(map, key);
    return text ? text : otherwise;
}

bool json_text_is(const struct value *map, const char *key, const char *text)
{
    return same_text(json_get_text(map, key), text);
}

int64_t json_get_int(const struct value *map, const char *key, int64_t otherwise)
{
    const struct value *v = get_kind(map, key, VALUE_INT);
    return v ? v->integer : otherwise;
}

double json_get_number(const struct value *map, const char *key)
{
    return value_number(value_get(map, key));
}

bool json_get_bool(const struct value *map, const char *key)
{
    const struct value *v = get_kind(map, key, VALUE_BOOL);
    return v && v->boolean;
}

int json_get_count(const struct value *map, const char *key)
{
    const struct value *v = get_kind(map, key, VALUE_LIST);
    return v ? v->n : 0;
}

const struct value *json_get_item(const struct value *map, const char *key, int i)
{
    return i < json_get_count(map, key) ? value_get(map, key)->item[i] : NULL;
}

bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}
