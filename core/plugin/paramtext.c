/* SPDX-License-Identifier: MIT */
/* paramtext.c: the types of parameters, and a config and the bounds of its rows as users write
 * them. */
#include <strings.h>

#include "plugin/paramrow.h"

/* ---- types: the field of each, its preset, and how it is shown ---- */

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

/* ---- texts ---- */

static void add_bound(struct strbuf *out, const peat_param *row, double bound)
{
    char text[32];
    if (row->type == PEAT_INT && fabs(bound) < WHOLE_MAX) {
        strbuf_addf(out, "%.0f", bound);
        return;
    }
    number_text(bound, text);
    strbuf_add(out, text);
}

/* " from 1 to 4096"; a bound at infinity is left out. */
static void add_range(struct strbuf *out, const peat_param *row)
{
    bool low = row_has_bounds(row) && isfinite(row->min);
    bool high = row_has_bounds(row) && isfinite(row->max);
    bool open = row->flags & PEAT_OPEN_MIN;
    if (low) {
        strbuf_add(out, open ? " above " : high ? " from " : " of at least ");
        add_bound(out, row, row->min);
    }
    if (high) {
        strbuf_add(out, !low ? " of at most " : open ? " and at most " : " to ");
        add_bound(out, row, row->max);
    }
}

void row_allowed_one(const peat_param *row, struct strbuf *out)
{
    const struct param_type *type = row_type(row);
    strbuf_add(out, row->flags & PEAT_PATH ? "a path" : type->word);
    strbuf_join(out, row->labels, names_count(row->labels));
    if (type->number)
        add_range(out, row);
}

const char *params_allowed(const peat_param *row, struct arena *a)
{
    struct strbuf out = STRBUF_NEW;
    row_allowed_one(row, &out);
    if (row_type(row)->item)
        strbuf_add(&out, ", or a list of such");
    if (row->unit)
        strbuf_addf(&out, " (%s)", row->unit);
    if (row->flags & PEAT_AUTO && texts_find(row->labels, names_count(row->labels), "auto") < 0)
        strbuf_add(&out, ", or auto");
    return strbuf_keep(&out, a);
}

/* Whether the value is 0, which means auto with PEAT_AUTO; a label at 0 is called "auto" itself. */
static bool is_zero(const struct value *v)
{
    return v->kind == VALUE_TEXT ? !v->text[0] : v->kind == VALUE_LIST ? v->n == 0 : v->real == 0;
}

static struct value *row_value(const peat_param *row, const void *config, struct arena *a)
{
    struct value *v = row_type(row)->show(row, (const char *)config + row->offset, a);
    return row->flags & PEAT_AUTO && is_zero(v) ? value_text(a, v->at, "auto") : v;
}

struct value *params_value(const peat_param *row, const void *config, struct arena *a)
{
    struct json map = json_map(a);
    for (; row && row->key; row++)
        json_put(map, row->key, row_value(row, config, a));
    return map.v;
}

/* Whether text reads back as the same text without quotes, in a list too. */
static bool is_bare(const char *text)
{
    static const char *const word[] = {"null", "true", "false", NULL};
    bool starts = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
                  text[0] == '/' || text[0] == '_';
    for (int i = 0; word[i]; i++)
        if (strcasecmp(text, word[i]) == 0)
            return false;
    return starts && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_./+-")] == 0;
}

static const char *value_text_of(const struct value *v, struct arena *a)
{
    return v->kind == VALUE_TEXT && !is_bare(v->text) ? json_to_text(v, JSON_CANONICAL, a)
                                                      : v->text;
}

const char *params_text(const peat_param *row, const void *config, struct arena *a)
{
    const struct value *v = row_value(row, config, a);
    const char *items = "";
    if (row->type == PEAT_ENUM)
        return v->text;
    if (v->kind != VALUE_LIST)
        return value_text_of(v, a);
    for (int i = 0; i < v->n; i++)
        items = arena_item(a, items, "%s", value_text_of(v->item[i], a));
    return arena_printf(a, "[%s]", items);
}
