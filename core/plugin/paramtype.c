/* SPDX-License-Identifier: MIT */
/* paramtype.c: the table of types: the field of each, its preset, and how it is shown. */
#include "plugin/paramrow.h"

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
    struct param_list items;
    memcpy(&items, field, sizeof(items));
    for (int64_t i = 0; i < items.n; i++)
        value_append(a, list,
                     type->show(row, (const char *)items.item + (size_t)i * type->bytes, a));
    return list;
}

#define HOLDS(type) sizeof(type), _Alignof(type)

static const struct param_type types[] = {
    [PEAT_BOOL] = {"bool", "true or false", HOLDS(bool), write_bool, show_bool},
    [PEAT_INT] = {"int", "a whole number", HOLDS(int64_t), write_whole, show_whole, .number = true},
    [PEAT_REAL] = {"real", "a number", HOLDS(double), write_real, show_real, .number = true},
    [PEAT_ENUM] = {"enum", "one of ", HOLDS(int64_t), write_whole, show_label},
    [PEAT_STRING] = {"text", "a text", HOLDS(char *), NULL, show_text, .text = true},
    [PEAT_STRINGS] = {"texts", "a text", HOLDS(peat_strings), NULL, show_list, .text = true,
                      .item = &types[PEAT_STRING]},
    [PEAT_REALS] = {"reals", "a number", HOLDS(peat_reals), NULL, show_list, .number = true,
                    .item = &types[PEAT_REAL]},
};

const struct param_type *row_type(const peat_param *row)
{
    bool known = (unsigned)row->type < sizeof(types) / sizeof(*types) && types[row->type].name;
    return known ? &types[row->type] : NULL;
}
