/* SPDX-License-Identifier: MIT */
/* json_text.c: JSON text from trees and back; jansson parses. */
#include "base/base.h"
#include <jansson.h>

enum { INDENT = 2 };

struct writer {
    struct strbuf *out;
    enum json_style style;
};

static void write_special(struct strbuf *out, uint32_t code)
{
    static const char named[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = code < 0x80 ? strchr(named, (int)code) : NULL;
    if (found)
        strbuf_addf(out, "\\%c", letter[found - named]);
    else
        strbuf_addf(out, "\\u%04x", code);
}

/* Readers of JSON need the first condition. The second protects people from misleading characters;
 * identities are hashed without it. */
static bool is_special(const struct writer *w, uint32_t code)
{
    return code < 0x20 || code == '"' || code == '\\' ||
           (w->style != JSON_CANONICAL && is_shown_as_code(code));
}

static void write_text(const struct writer *w, const char *text)
{
    struct strbuf *out = w->out;
    strbuf_add_bytes(out, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        uint32_t code;
        size_t n = utf8_read(s, SIZE_MAX, &code);
        if (n == 0)
            strbuf_add(out, "\xef\xbf\xbd");
        else if (is_special(w, code))
            write_special(out, code);
        else
            strbuf_add_bytes(out, s, n);
        s += n ? n : 1;
    }
    strbuf_add_bytes(out, "\"", 1);
}

static void write_real(const struct writer *w, double real)
{
    char text[NUMBER_TEXT];
    bool whole = real == trunc(real) && real >= -0x1p63 && real < 0x1p63;
    if (w->style == JSON_CANONICAL && whole) {
        strbuf_addf(w->out, "%" PRId64, (int64_t)real);
        return;
    }
    number_text(real, text);
    strbuf_add(w->out, text);
    if (isfinite(real) && !strpbrk(text, ".e"))
        strbuf_add(w->out, ".0");
}

static void new_line(const struct writer *w, int depth)
{
    if (w->style != JSON_INDENTED)
        return;
    strbuf_add_bytes(w->out, "\n", 1);
    strbuf_fill(w->out, ' ', (size_t)depth * INDENT);
}

static bool has_spaces(const struct writer *w)
{
    return w->style == JSON_LINE || w->style == JSON_INDENTED;
}

/* The separator of items on one line. */
static const char *comma(const struct writer *w)
{
    return has_spaces(w) ? ", " : ",";
}

static bool is_flat(const struct value *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->item[i]->kind == VALUE_LIST || list->item[i]->kind == VALUE_MAP)
            return false;
    return true;
}

static void write_value(const struct writer *w, const struct value *v, int depth);

static void write_list(const struct writer *w, const struct value *list, int depth)
{
    bool one_line = w->style != JSON_INDENTED || is_flat(list);
    strbuf_add(w->out, "[");
    for (int i = 0; i < list->n; i++) {
        if (i)
            strbuf_add(w->out, one_line ? comma(w) : ",");
        if (!one_line)
            new_line(w, depth + 1);
        write_value(w, list->item[i], depth + 1);
    }
    if (!one_line)
        new_line(w, depth);
    strbuf_add(w->out, "]");
}

struct entry {
    const char *key;
    const struct value *item;
};

static struct entry *entries_of(const struct value *map, bool sorted)
{
    struct entry *entry = mem_array((size_t)map->n, sizeof(*entry), "settings");
    for (int i = 0; i < map->n; i++)
        entry[i] = (struct entry){map->key[i], map->item[i]};
    if (sorted)
        qsort(entry, (size_t)map->n, sizeof(*entry), compare_texts);
    return entry;
}

static void write_map(const struct writer *w, const struct value *map, int depth)
{
    struct entry *entry = entries_of(map, w->style == JSON_CANONICAL);
    strbuf_add(w->out, "{");
    for (int i = 0; i < map->n; i++) {
        if (i)
            strbuf_add(w->out, w->style == JSON_INDENTED ? "," : comma(w));
        new_line(w, depth + 1);
        write_text(w, entry[i].key);
        strbuf_add(w->out, has_spaces(w) ? ": " : ":");
        write_value(w, entry[i].item, depth + 1);
    }
    if (map->n)
        new_line(w, depth);
    strbuf_add(w->out, "}");
    free(entry);
}

static void write_value(const struct writer *w, const struct value *v, int depth)
{
    switch (v->kind) {
    case VALUE_NULL:
        strbuf_add(w->out, "null");
        break;
    case VALUE_BOOL:
        strbuf_add(w->out, v->boolean ? "true" : "false");
        break;
    case VALUE_INT:
        strbuf_addf(w->out, "%" PRId64, v->integer);
        break;
    case VALUE_REAL:
        write_real(w, v->real);
        break;
    case VALUE_TEXT:
        write_text(w, v->text);
        break;
    case VALUE_LIST:
        write_list(w, v, depth);
        break;
    case VALUE_MAP:
        write_map(w, v, depth);
        break;
    }
}

void json_print(const struct value *v, enum json_style style, struct strbuf *out)
{
    const struct writer w = {out, style};
    write_value(&w, v, 0);
    if (style == JSON_INDENTED)
        strbuf_add(out, "\n");
}

const char *json_to_text(const struct value *v, enum json_style style, struct arena *a)
{
    struct strbuf text = STRBUF_NEW;
    json_print(v, style, &text);
    return strbuf_keep(&text, a);
}

void json_hash(const struct value *v, char hex[HASH_HEX])
{
    struct strbuf text = STRBUF_NEW;
    json_print(v, JSON_CANONICAL, &text);
    hash_bytes(text.text, text.n, hex);
    strbuf_release(&text);
}

/* ---- reading ---- */

static void *allocate(size_t n)
{
    void *memory = malloc(n);
    if (!memory)
        out_of_memory("JSON");
    return memory;
}

static struct value *from_jansson(struct arena *a, json_t *json, struct place at)
{
    struct value *v, *child;
    const char *key;
    json_t *item;
    size_t i;
    switch (json_typeof(json)) {
    case JSON_TRUE:
    case JSON_FALSE:
        return value_bool(a, at, json_is_true(json));
    case JSON_INTEGER:
        return value_int(a, at, json_integer_value(json));
    case JSON_REAL:
        return value_real(a, at, json_real_value(json));
    case JSON_STRING:
        return value_text(a, at, json_string_value(json));
    case JSON_ARRAY:
        v = value_list(a, at);
        json_array_foreach(json, i, item)
        {
            value_append(a, v, from_jansson(a, item, at));
        }
        return v;
    case JSON_OBJECT:
        v = value_map(a, at);
        json_object_foreach(json, key, item)
        {
            child = from_jansson(a, item, at);
            value_set_new(a, v, key, at, child);
        }
        return v;
    default:
        return value_null(a, at);
    }
}

struct value *json_parse(struct arena *a, const char *text, size_t n, const char *file,
                         struct error *err)
{
    json_error_t wrong;
    /* jansson's parser would report lack of memory as a mistake in the text. */
    json_set_alloc_funcs(allocate, free);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &wrong);
    if (!json) {
        place_error(err, (struct place){file, wrong.line, wrong.column}, "%s", wrong.text);
        return NULL;
    }
    struct value *v = from_jansson(a, json, (struct place){.file = file});
    json_decref(json);
    return v;
}
