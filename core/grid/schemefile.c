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

/* ---- writing ---- */

static void put_values(struct json map, const char *key, const float *value, int64_t n)
{
    struct strbuf text = STRBUF_NEW;
    char number[NUMBER_TEXT];
    for (int64_t i = 0; i < n; i++) {
        number_text_single(value[i], number);
        strbuf_addf(&text, i ? " %s" : "%s", number);
    }
    json_put_text(map, key, text.text);
    strbuf_release(&text);
}

void scheme_drawing_put(struct json map, const struct scheme_drawing *d)
{
    json_put_text(map, "title", d->title);
    json_put_text(map, "name", d->name);
    json_put_int(map, "width", d->width);
    json_put_int(map, "model_heads", d->model_heads);
    json_put_text(map, "cell", d->id);
    json_put_text(map, "label", d->label);
    json_put_text(map, "weights_hash", d->weights);
    json_put_text(map, "why", d->why);
    json_put_bool(map, "again", d->again);
    if (d->why)
        return;
    json_put_text(map, "what", d->what);
    json_put_text(map, "numbers", d->numbers);
    json_put_int(map, "all_heads", d->all_heads);
    json_put_int(map, "heads", d->heads);
    json_put_int(map, "rows", d->rows);
    json_put_int(map, "columns", d->columns);
    put_values(map, "values", d->value, drawing_values(d));
    if (d->before)
        put_values(map, "before", d->before, drawing_values(d));
}

peat_status scheme_drawings_write(const char *dir, struct json list, struct error *err)
{
    struct json file = json_map(list.a);
    json_put_int(file, "format", schemes_record.format);
    json_put(file, "schemes", list.v);
    return json_write_file(dir, schemes_record.name, file.v, err);
}

/* ---- reading ---- */

/* NULL: there are not n of them. */
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

/* False: sizes that no drawing has, or values that are not as many. */
static bool read_table(struct scheme_drawing *d, const struct value *v, struct arena *a)
{
    const char *before = json_get_text(v, "before");
    d->what = json_get_text(v, "what");
    d->numbers = json_get_text(v, "numbers");
    d->all_heads = json_get_int(v, "all_heads", 0);
    d->heads = json_get_int(v, "heads", 0);
    d->rows = json_get_int(v, "rows", 0);
    d->columns = json_get_int(v, "columns", 0);
    const int64_t most = DRAWING_VALUES_MAX;
    if (!d->what || !d->numbers || d->heads > most || d->rows > most || d->columns > most ||
        drawing_values(d) < 1 || drawing_values(d) > most)
        return false;
    d->value = read_values(json_get_text(v, "values"), drawing_values(d), a);
    d->before = before ? read_values(before, drawing_values(d), a) : NULL;
    return d->value && (d->before || !before);
}

static bool read_drawing(struct scheme_drawing *d, const struct value *v, struct arena *a)
{
    *d = (struct scheme_drawing){.title = json_get_text(v, "title"),
                                 .name = json_get_text(v, "name"),
                                 .width = json_get_int(v, "width", 0),
                                 .model_heads = json_get_int(v, "model_heads", 0),
                                 .id = json_get_text(v, "cell"),
                                 .label = json_get_text(v, "label"),
                                 .weights = json_get_text(v, "weights_hash"),
                                 .why = json_get_text(v, "why"),
                                 .again = json_get_bool(v, "again")};
    return d->why || read_table(d, v, a);
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
