/* SPDX-License-Identifier: MIT */
/* schemefile.c: drawings as JSON; the values of a table are one text. */
#include "grid/schemefile.h"

static const struct field drawing_fields[] = {
    {"title", FIELD_TEXT | FIELD_NEEDED},
    {"name", FIELD_TEXT | FIELD_NEEDED},
    {"width", FIELD_INT | FIELD_NEEDED},
    {"model_heads", FIELD_INT | FIELD_NEEDED},
    {"cell", FIELD_TEXT | FIELD_NULL},
    {"label", FIELD_TEXT | FIELD_NULL},
    {"weights_hash", FIELD_TEXT | FIELD_NULL},
    {"why", FIELD_TEXT | FIELD_NULL},
    {"again", FIELD_BOOL},
    {"what", FIELD_TEXT},
    {"numbers", FIELD_TEXT},
    {"all_heads", FIELD_INT},
    {"heads", FIELD_INT},
    {"rows", FIELD_INT},
    {"columns", FIELD_INT},
    {"values", FIELD_TEXT},
    {"before", FIELD_TEXT | FIELD_NULL},
    {NULL},
};
static const struct field schemes_fields[] = {
    {"schemes", FIELD_LIST | FIELD_NEEDED, FIELD_MAP, drawing_fields}, {NULL}};
static const struct record schemes_record = {"schemes.json", "format", 1, false, schemes_fields};

/* Whether the text has n numbers with one space between two. */
static bool has_numbers(const char *text, int64_t n)
{
    for (; n > 0 && text && *text; n--) {
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return n == 0 && !text;
}

/* False: the sizes are impossible, or their number of values is another. */
static bool has_table(const struct value *v)
{
    enum { MOST = 1 << 17 };
    int64_t heads = json_get_int(v, "heads", 0), rows = json_get_int(v, "rows", 0),
            columns = json_get_int(v, "columns", 0);
    const char *before = json_get_text(v, "before");
    if (json_get_text(v, "why"))
        return true;
    if (!json_get_text(v, "what") || !json_get_text(v, "numbers") || heads > MOST || rows > MOST ||
        columns > MOST)
        return false;
    int64_t n = (heads ? heads : 1) * rows * columns;
    return n >= 1 && n <= MOST && has_numbers(json_get_text(v, "values"), n) &&
           (!before || has_numbers(before, n));
}

peat_status scheme_drawings_check(const char *dir, struct arena *a, struct error *err)
{
    struct value *file;
    peat_status status = record_read(dir, &schemes_record, a, &file, err);
    int n = status == PEAT_OK ? json_get_count(file, "schemes") : 0;
    for (int i = 0; i < n; i++)
        if (!has_table(json_get_item(file, "schemes", i)))
            return error_set(err, PEAT_CORRUPT,
                             "'%s/%s' is damaged: schemes[%d] has no table of its size", dir,
                             schemes_record.name, i);
    return status;
}
