/* SPDX-License-Identifier: MIT */
/* paramtext.c: a config and the bounds of its rows in the user's words. */
#include <inttypes.h>
#include <strings.h>

#include "plugin/paramrow.h"

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
    switch (row->type) {
    case PEAT_BOOL:
        strbuf_add(out, "true or false");
        break;
    case PEAT_INT:
        strbuf_add(out, "a whole number");
        add_range(out, row);
        break;
    case PEAT_REAL:
    case PEAT_REALS:
        strbuf_add(out, "a number");
        add_range(out, row);
        break;
    case PEAT_ENUM:
        strbuf_add(out, "one of ");
        names_add(out, row->labels);
        break;
    case PEAT_STRING:
    case PEAT_STRINGS:
        strbuf_add(out, row->flags & PEAT_PATH ? "a path" : "a text");
        break;
    }
}

void params_allowed(const peat_param *row, struct strbuf *out)
{
    row_allowed_one(row, out);
    if (row->type == PEAT_STRINGS || row->type == PEAT_REALS)
        strbuf_add(out, ", or a list of such");
    if (row->unit)
        strbuf_addf(out, " (%s)", row->unit);
    if (row->flags & PEAT_AUTO)
        strbuf_add(out, ", or auto");
}

static bool is_auto(const peat_param *row, const void *field)
{
    if (!(row->flags & PEAT_AUTO))
        return false;
    switch (row->type) {
    case PEAT_BOOL:
        return !*(const bool *)field;
    case PEAT_INT:
    case PEAT_ENUM:
        return *(const int64_t *)field == 0;
    case PEAT_REAL:
        return *(const double *)field == 0;
    case PEAT_STRING:
        return !(*(const char *const *)field)[0];
    case PEAT_STRINGS:
        return ((const peat_strings *)field)->n == 0;
    case PEAT_REALS:
        return ((const peat_reals *)field)->n == 0;
    }
    return false;
}

static struct value *list_of_texts(const peat_strings *field, struct arena *a)
{
    const struct place nowhere = {NULL, 0, 0};
    struct value *list = value_list(a, nowhere);
    for (int64_t i = 0; i < field->n; i++)
        value_append(a, list, value_text(a, nowhere, field->item[i]));
    return list;
}

static struct value *list_of_numbers(const peat_reals *field, struct arena *a)
{
    const struct place nowhere = {NULL, 0, 0};
    struct value *list = value_list(a, nowhere);
    for (int64_t i = 0; i < field->n; i++)
        value_append(a, list, value_real(a, nowhere, field->item[i]));
    return list;
}

static struct value *row_value(const peat_param *row, const void *config, struct arena *a)
{
    const struct place nowhere = {NULL, 0, 0};
    const void *field = (const char *)config + row->offset;
    if (is_auto(row, field))
        return value_text(a, nowhere, "auto");
    switch (row->type) {
    case PEAT_BOOL:
        return value_bool(a, nowhere, *(const bool *)field);
    case PEAT_INT:
        return value_int(a, nowhere, *(const int64_t *)field);
    case PEAT_REAL:
        return value_real(a, nowhere, *(const double *)field);
    case PEAT_ENUM:
        return value_text(a, nowhere, row->labels[*(const int64_t *)field]);
    case PEAT_STRING:
        return value_text(a, nowhere, *(const char *const *)field);
    case PEAT_STRINGS:
        return list_of_texts(field, a);
    case PEAT_REALS:
        return list_of_numbers(field, a);
    }
    BUG("parameter '%s' has no type", row->key);
}

struct value *params_value(const peat_param *row, const void *config, struct arena *a)
{
    const struct place nowhere = {NULL, 0, 0};
    struct value *map = value_map(a, nowhere);
    for (; row && row->key; row++)
        value_set(a, map, row->key, nowhere, row_value(row, config, a));
    return map;
}

/* Text that reads back as text without quotes, in a list too. */
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

static void add_text(struct strbuf *out, const char *text)
{
    const struct value quoted = {.kind = VALUE_TEXT, .text = text};
    if (is_bare(text))
        strbuf_add(out, text);
    else
        value_to_json(&quoted, true, 0, out);
}

static void add_number(struct strbuf *out, double x)
{
    char text[32];
    number_text(x, text);
    strbuf_add(out, text);
}

static void add_texts(struct strbuf *out, const peat_strings *field)
{
    strbuf_add(out, "[");
    for (int64_t i = 0; i < field->n; i++) {
        strbuf_add(out, i > 0 ? ", " : "");
        add_text(out, field->item[i]);
    }
    strbuf_add(out, "]");
}

static void add_numbers(struct strbuf *out, const peat_reals *field)
{
    strbuf_add(out, "[");
    for (int64_t i = 0; i < field->n; i++) {
        strbuf_add(out, i > 0 ? ", " : "");
        add_number(out, field->item[i]);
    }
    strbuf_add(out, "]");
}

void params_text(const peat_param *row, const void *config, struct strbuf *out)
{
    const void *field = (const char *)config + row->offset;
    if (is_auto(row, field)) {
        strbuf_add(out, "auto");
        return;
    }
    switch (row->type) {
    case PEAT_BOOL:
        strbuf_add(out, *(const bool *)field ? "true" : "false");
        break;
    case PEAT_INT:
        strbuf_addf(out, "%" PRId64, *(const int64_t *)field);
        break;
    case PEAT_REAL:
        add_number(out, *(const double *)field);
        break;
    case PEAT_ENUM:
        strbuf_add(out, row->labels[*(const int64_t *)field]);
        break;
    case PEAT_STRING:
        add_text(out, *(const char *const *)field);
        break;
    case PEAT_STRINGS:
        add_texts(out, field);
        break;
    case PEAT_REALS:
        add_numbers(out, field);
        break;
    }
}
