/* SPDX-License-Identifier: MIT */
/* schemefile.c: drawings as JSON; the values of a table are one text. */
#include "grid/schemefile.h"

#define DRAWING(key, flags, name)                                                                  \
    {                                                                                              \
        key, flags, MEMBER(struct scheme_drawing, name)                                            \
    }

static const struct field drawing_fields[] = {
    DRAWING("title", FIELD_TEXT | FIELD_NEEDED, title),
    DRAWING("name", FIELD_TEXT | FIELD_NEEDED, name),
    DRAWING("width", FIELD_INT | FIELD_NEEDED, width),
    DRAWING("model_heads", FIELD_INT | FIELD_NEEDED, model_heads),
    DRAWING("cell", FIELD_TEXT | FIELD_NULL, id),
    DRAWING("label", FIELD_TEXT | FIELD_NULL, label),
    DRAWING("weights_hash", FIELD_TEXT | FIELD_NULL, weights),
    DRAWING("why", FIELD_TEXT | FIELD_NULL, why),
    DRAWING("again", FIELD_BOOL, again),
    DRAWING("what", FIELD_TEXT, what),
    DRAWING("numbers", FIELD_TEXT, numbers),
    DRAWING("all_heads", FIELD_INT, all_heads),
    DRAWING("heads", FIELD_INT, heads),
    DRAWING("rows", FIELD_INT, rows),
    DRAWING("columns", FIELD_INT, columns),
    {"values", FIELD_TEXT},
    {"before", FIELD_TEXT | FIELD_NULL},
    {NULL},
};
static const struct field schemes_fields[] = {
    {"schemes", FIELD_LIST | FIELD_NEEDED, FIELD_MAP, drawing_fields}, {NULL}};
static const struct record schemes_record = {"schemes.json", "format", 1, false, schemes_fields};

/* NULL: the text does not have n values. */
static float *read_values(const char *text, int64_t n, struct arena *a)
{
    float *value = ARENA_ARRAY(a, n, float);
    for (int64_t i = 0; i < n; i++) {
        if (!text || !*text)
            return NULL;
        value[i] = *text == 'n' ? NAN : (float)number_parse(text);
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return text ? NULL : value;
}

/* False: the sizes are impossible, or their number of values is another. */
static bool read_drawing(struct scheme_drawing *d, const struct value *v, struct arena *a)
{
    const int64_t most = DRAWING_VALUES_MAX;
    const char *before = json_get_text(v, "before");
    *d = (struct scheme_drawing){0};
    fields_get(v, drawing_fields, d);
    if (d->why)
        return true;
    if (!d->what || !d->numbers || d->heads > most || d->rows > most || d->columns > most ||
        drawing_values(d) < 1 || drawing_values(d) > most)
        return false;
    d->value = read_values(json_get_text(v, "values"), drawing_values(d), a);
    d->before = before ? read_values(before, drawing_values(d), a) : NULL;
    return d->value && (d->before || !before);
}

peat_status scheme_drawings_read(const char *dir, struct scheme_drawings *all, struct arena *a,
                                 struct error *err)
{
    struct value *file;
    *all = (struct scheme_drawings){.n = 0};
    peat_status status = record_read(dir, &schemes_record, a, &file, err);
    int n = status == PEAT_OK ? json_get_count(file, "schemes") : 0;
    all->item = ARENA_ARRAY(a, n + 1, struct scheme_drawing);
    all->n = n;
    for (int i = 0; i < n; i++)
        if (!read_drawing(&all->item[i], json_get_item(file, "schemes", i), a)) {
            all->n = 0;
            return error_set(err, PEAT_CORRUPT,
                             "'%s/%s' is damaged: schemes[%d] has no table of its size", dir,
                             schemes_record.name, i);
        }
    return status;
}
