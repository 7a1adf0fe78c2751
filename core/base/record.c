/* SPDX-License-Identifier: MIT */
/* record.c: checks the format number and the fields of a JSON file. */

#include "base/base.h"

enum { PLACE = 160 };

/* ---- the number ---- */

static peat_status damaged(struct error *err, const char *path, const char *why)
{
    return error_set(err, PEAT_CORRUPT, "'%s' is damaged: %s", path, why);
}

static peat_status check_format(const struct record *r, const struct value *v, const char *path,
                                struct error *err)
{
    const struct value *format = r->number ? value_get(v, r->number) : NULL;
    char older[32] = "";
    if (!format && r->bare)
        return PEAT_OK;
    if (!format)
        return damaged(err, path, "it has no format");
    if (format->kind != VALUE_INT || format->integer < 1)
        return damaged(err, path, "its format is not a whole number from 1");
    if (format->integer <= r->format)
        return PEAT_OK;
    snprintf(older, sizeof(older), r->format > 1 ? "1 to %" PRId64 : "%" PRId64, r->format);
    return error_set(err, PEAT_MISMATCH,
                     "'%s' was written by a newer peat, format %" PRId64 "; this one reads %s",
                     path, format->integer, older);
}

/* ---- the fields ---- */

/* The faulty field, and its path: "measures[2].length". */
struct fault {
    char place[PLACE];
    const char *what; /* NULL: no fault */
};

static const char *kind_fault(const struct value *v, unsigned flags)
{
    if (!(flags & 1u << v->kind))
        return v->kind == VALUE_NULL ? "is null" : "is of another kind";
    bool is_number = v->kind == VALUE_INT || v->kind == VALUE_REAL;
    return is_number && !(flags & FIELD_SIGNED) && v->real < 0 ? "is below 0" : NULL;
}

static void add_key(char *place, const char *key)
{
    size_t n = strlen(place);
    snprintf(place + n, PLACE - n, "%s%s", n ? "." : "", key ? key : "");
}

static void add_index(char *place, int i)
{
    size_t n = strlen(place);
    snprintf(place + n, PLACE - n, "[%d]", i);
}

static bool check_map(const struct field *row, const struct value *map, struct fault *f);

/* Checks members of a list, or of a map whose keys are not known. */
static bool check_items(const struct field *row, const struct value *v, struct fault *f)
{
    size_t n = strlen(f->place);
    for (int i = 0; i < v->n; i++) {
        f->place[n] = '\0';
        if (v->kind == VALUE_MAP)
            add_key(f->place, v->key[i]);
        else
            add_index(f->place, i);
        f->what = row->items ? kind_fault(v->item[i], row->items) : NULL;
        if (f->what)
            return false;
        if (row->inside && v->item[i]->kind == VALUE_MAP && !check_map(row->inside, v->item[i], f))
            return false;
    }
    f->place[n] = '\0';
    return true;
}

static bool check_field(const struct field *row, const struct value *v, struct fault *f)
{
    f->what = kind_fault(v, row->flags);
    if (f->what)
        return false;
    bool listed = v->kind == VALUE_LIST || (v->kind == VALUE_MAP && row->items);
    if (listed)
        return check_items(row, v, f);
    return v->kind != VALUE_MAP || !row->inside || check_map(row->inside, v, f);
}

static bool check_map(const struct field *row, const struct value *map, struct fault *f)
{
    size_t n = strlen(f->place);
    for (; row->key; row++) {
        const struct value *v = value_get(map, row->key);
        f->place[n] = '\0';
        add_key(f->place, row->key);
        if (!v && row->flags & FIELD_NEEDED)
            f->what = "is missing";
        else if (!v || check_field(row, v, f))
            continue;
        return false;
    }
    f->place[n] = '\0';
    return true;
}

/* ---- the members of a struct ---- */

void fields_put(struct json map, const struct field *row, int n, const void *from)
{
    for (int i = 0; i < n; i++, row++) {
        const void *member = (const char *)from + row->member;
        if (!row->is_member)
            continue;
        if (row->flags & FIELD_BOOL)
            json_put_bool(map, row->key, *(const bool *)member);
        else if (row->flags & 1u << VALUE_REAL)
            json_put_number(map, row->key, *(const double *)member);
        else if (row->flags & FIELD_INT)
            json_put_int(map, row->key, *(const int64_t *)member);
        else if (row->flags & FIELD_NULL || *(const char *const *)member)
            json_put_text(map, row->key, *(const char *const *)member);
    }
}

void fields_get(const struct value *map, const struct field *row, void *to)
{
    for (; row->key; row++) {
        void *member = (char *)to + row->member;
        if (!row->is_member)
            continue;
        if (row->flags & FIELD_BOOL)
            *(bool *)member = json_get_bool(map, row->key);
        else if (row->flags & 1u << VALUE_REAL)
            *(double *)member = json_get_number(map, row->key);
        else if (row->flags & FIELD_INT)
            *(int64_t *)member = json_get_int(map, row->key, 0);
        else
            *(const char **)member = json_get_text(map, row->key);
    }
}

/* ---- both ---- */

peat_status record_check(const struct record *r, const struct value *v, const char *path,
                         struct error *err)
{
    struct fault fault = {.what = NULL};
    if (v->kind != VALUE_MAP)
        return damaged(err, path, "it is not a map");
    peat_status status = check_format(r, v, path, err);
    if (status != PEAT_OK || check_map(r->field, v, &fault))
        return status;
    return error_set(err, PEAT_CORRUPT, "'%s' is damaged: its %s %s", path, fault.place,
                     fault.what);
}

peat_status record_read(const char *dir, const struct record *r, struct arena *a, struct value **v,
                        struct error *err)
{
    peat_status status = json_read_file(dir, r->name, a, v, err);
    if (status != PEAT_OK)
        return status;
    status = record_check(r, *v, path_in(dir, r->name).text, err);
    if (status != PEAT_OK)
        *v = NULL;
    return status;
}
