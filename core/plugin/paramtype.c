/* SPDX-License-Identifier: MIT */
/* paramtype.c: the types of parameters: what each holds, how it is read and how it is shown. */
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "paramrefuse.h"

/* ---- from a number: presets ---- */

static void write_bool(void *field, double x)
{
    *(bool *)field = x != 0;
}

static void write_whole(void *field, double x)
{
    *(int64_t *)field = (int64_t)x;
}

static void write_real(void *field, double x)
{
    *(double *)field = x;
}

/* ---- from what the user wrote ---- */

static peat_status read_bool(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    *(bool *)field = v->boolean;
    return v->kind == VALUE_BOOL ? PEAT_OK : refuse_value(f, row, item, v);
}

/* 1e3 is a whole number too. */
static peat_status read_whole(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    bool whole = v->kind == VALUE_INT ||
                 (v->kind == VALUE_REAL && fabs(v->real) <= WHOLE_MAX && v->real == trunc(v->real));
    if (!whole || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(int64_t *)field = v->kind == VALUE_INT ? v->integer : (int64_t)v->real;
    return PEAT_OK;
}

static peat_status read_real(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    if ((v->kind != VALUE_INT && v->kind != VALUE_REAL) || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(double *)field = v->real;
    return PEAT_OK;
}

/* Labels are compared with what was written: a label may look like a number. */
static peat_status read_label(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    const char *text = value_written(v);
    int label = text ? name_index(row->labels, names_count(row->labels), text) : -1;
    if (label < 0)
        return refuse_value(f, row, item, v);
    *(int64_t *)field = label;
    return PEAT_OK;
}

/* The absolute path of an existing file: a config means the same wherever it is read again. */
static peat_status read_path(const struct filling *f, const peat_param *row, const struct value *v,
                             const char **path)
{
    bool from_here = !v->at.file || strcmp(v->at.file, "command line") == 0;
    char *beside = path_beside(from_here ? "" : v->at.file, v->text);
    char *absolute = realpath(beside, NULL);
    peat_status status = PEAT_OK;
    if (absolute)
        *path = arena_strdup(f->a, absolute);
    else
        status = refuse_path(f, row, v, beside, errno);
    free(absolute);
    free(beside);
    return status;
}

/* "" means not given: what is required cannot be "", nor can a path in a list. */
static peat_status read_text(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    if (v->kind != VALUE_TEXT || (!v->text[0] && row->flags & (item ? PEAT_PATH : PEAT_REQUIRED)))
        return refuse_value(f, row, item, v);
    if (row->flags & PEAT_PATH && v->text[0])
        return read_path(f, row, v, field);
    *(const char **)field = arena_strdup(f->a, v->text);
    return PEAT_OK;
}

/* peat_strings and peat_reals, whatever the items are. */
struct list {
    int64_t n;
    const void *item;
};
_Static_assert(sizeof(struct list) == sizeof(peat_strings) &&
                   sizeof(struct list) == sizeof(peat_reals),
               "a list is a number and a pointer");

/* One value stands for a list of one. */
static peat_status read_list(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    const struct param_type *type = row_type(row)->item;
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    char *items = arena_array(f->a, (size_t)n + 1, type->bytes);
    if (n == 0 && row->flags & PEAT_REQUIRED)
        return refuse_value(f, row, item, v);
    for (int i = 0; i < n; i++) {
        peat_status status =
            type->read(f, row, list, list ? v->item[i] : v, items + (size_t)i * type->bytes);
        if (status != PEAT_OK)
            return status;
    }
    memcpy(field, &(struct list){n, items}, sizeof(struct list));
    return PEAT_OK;
}

/* ---- back to a value ---- */

static struct value *show_bool(const peat_param *row, const void *field, struct arena *a)
{
    (void)row;
    return value_bool(a, NOWHERE, *(const bool *)field);
}

static struct value *show_whole(const peat_param *row, const void *field, struct arena *a)
{
    (void)row;
    return value_int(a, NOWHERE, *(const int64_t *)field);
}

static struct value *show_real(const peat_param *row, const void *field, struct arena *a)
{
    (void)row;
    return value_real(a, NOWHERE, *(const double *)field);
}

static struct value *show_label(const peat_param *row, const void *field, struct arena *a)
{
    return value_text(a, NOWHERE, row->labels[*(const int64_t *)field]);
}

static struct value *show_text(const peat_param *row, const void *field, struct arena *a)
{
    (void)row;
    return value_text(a, NOWHERE, *(const char *const *)field);
}

static struct value *show_list(const peat_param *row, const void *field, struct arena *a)
{
    const struct param_type *type = row_type(row)->item;
    struct value *list = value_list(a, NOWHERE);
    struct list items;
    memcpy(&items, field, sizeof(items));
    for (int64_t i = 0; i < items.n; i++)
        value_append(a, list,
                     type->show(row, (const char *)items.item + (size_t)i * type->bytes, a));
    return list;
}

/* ---- the table ---- */

#define HOLDS(type) sizeof(type), _Alignof(type)

static const struct param_type types[] = {
    [PEAT_BOOL] = {"bool", "true or false", HOLDS(bool), write_bool, read_bool, show_bool},
    [PEAT_INT] = {"int", "a whole number", HOLDS(int64_t), write_whole, read_whole, show_whole,
                  .number = true},
    [PEAT_REAL] = {"real", "a number", HOLDS(double), write_real, read_real, show_real,
                   .number = true},
    [PEAT_ENUM] = {"enum", "one of ", HOLDS(int64_t), write_whole, read_label, show_label},
    [PEAT_STRING] = {"text", "a text", HOLDS(char *), NULL, read_text, show_text, .text = true},
    [PEAT_STRINGS] = {"texts", "a text", HOLDS(peat_strings), NULL, read_list, show_list,
                      .text = true, .item = &types[PEAT_STRING]},
    [PEAT_REALS] = {"reals", "a number", HOLDS(peat_reals), NULL, read_list, show_list,
                    .number = true, .item = &types[PEAT_REAL]},
};

const struct param_type *row_type(const peat_param *row)
{
    bool known = (unsigned)row->type < sizeof(types) / sizeof(*types) && types[row->type].name;
    return known ? &types[row->type] : NULL;
}
