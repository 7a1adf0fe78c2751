/* SPDX-License-Identifier: MIT */
/* valuejson.c: settings as JSON; reading is jansson's work. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"

struct writer {
    struct strbuf *out;
    bool canonical;
    int indent;
};

/* Bytes of the UTF-8 character that starts here; 0 when there is none: stray, overlong, surrogate
 * or beyond U+10FFFF. */
static size_t utf8_bytes(const unsigned char *s)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc0 || s[0] >= 0xf8)
        return 0;
    uint32_t point = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least[n] || point > 0x10ffff || surrogate ? 0 : n;
}

static void write_special(struct strbuf *out, unsigned char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = strchr(named, c);
    if (found)
        strbuf_addf(out, "\\%c", letter[found - named]);
    else
        strbuf_addf(out, "\\u%04x", c);
}

static void write_text(struct strbuf *out, const char *text)
{
    strbuf_add_bytes(out, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8_bytes(s);
        if (n == 0)
            strbuf_add(out, "\xef\xbf\xbd");
        else if (*s < 0x20 || *s == '"' || *s == '\\')
            write_special(out, *s);
        else
            strbuf_add_bytes(out, s, n);
        s += n ? n : 1;
    }
    strbuf_add_bytes(out, "\"", 1);
}

static void write_real(const struct writer *w, double real)
{
    char text[32];
    bool whole = real == trunc(real) && real >= -0x1p63 && real < 0x1p63;
    if (w->canonical && whole) {
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
    if (w->indent == 0)
        return;
    strbuf_add_bytes(w->out, "\n", 1);
    strbuf_fill(w->out, ' ', (size_t)depth * (size_t)w->indent);
}

/* Between items on one line. */
static void comma(const struct writer *w, bool spaced)
{
    strbuf_add(w->out, spaced && !(w->canonical && w->indent == 0) ? ", " : ",");
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
    bool one_line = w->indent == 0 || is_flat(list);
    strbuf_add(w->out, "[");
    for (int i = 0; i < list->n; i++) {
        if (i)
            comma(w, one_line);
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

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

static struct entry *entries_of(const struct value *map, bool sorted)
{
    struct entry *entry = calloc((size_t)map->n + 1, sizeof(*entry));
    if (!entry)
        out_of_memory("settings");
    for (int i = 0; i < map->n; i++)
        entry[i] = (struct entry){map->key[i], map->item[i]};
    if (sorted)
        qsort(entry, (size_t)map->n, sizeof(*entry), compare_entries);
    return entry;
}

static void write_map(const struct writer *w, const struct value *map, int depth)
{
    struct entry *entry = entries_of(map, w->canonical);
    strbuf_add(w->out, "{");
    for (int i = 0; i < map->n; i++) {
        if (i)
            comma(w, w->indent == 0);
        new_line(w, depth + 1);
        write_text(w->out, entry[i].key);
        strbuf_add(w->out, w->canonical && w->indent == 0 ? ":" : ": ");
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
        write_text(w->out, v->text);
        break;
    case VALUE_LIST:
        write_list(w, v, depth);
        break;
    case VALUE_MAP:
        write_map(w, v, depth);
        break;
    }
}

void value_to_json(const struct value *v, bool canonical, int indent, struct strbuf *out)
{
    const struct writer w = {out, canonical, indent};
    write_value(&w, v, 0);
}

static void *must_have(size_t n)
{
    void *memory = malloc(n);
    if (!memory)
        out_of_memory("JSON");
    return memory;
}

void json_start(void)
{
    json_set_alloc_funcs(must_have, free);
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
            value_set(a, v, key, at, child);
        }
        return v;
    default:
        return value_null(a, at);
    }
}

struct value *value_from_json(struct arena *a, const char *text, size_t n, const char *file,
                              struct error *err)
{
    json_error_t wrong;
    json_start();
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &wrong);
    if (!json) {
        place_error(err, (struct place){file, wrong.line, wrong.column}, "%s", wrong.text);
        return NULL;
    }
    struct value *v = from_jansson(a, json, (struct place){.file = file});
    json_decref(json);
    return v;
}
