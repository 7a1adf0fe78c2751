/* SPDX-License-Identifier: MIT */
/* yamltext.c: a tree of settings as YAML. */
#include "yamltext.h"

enum { ONE_LINE = 80, INDENT = 2 };

/* Texts as JSON has them, which YAML reads. */
static void add_text(struct strbuf *out, const char *text)
{
    struct arena a;
    arena_init(&a, "yaml", 1 << 10);
    json_print(value_text(&a, NOWHERE, text), JSON_LINE, out);
    arena_release(&a);
}

static void add_key(struct strbuf *out, const char *key)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._";
    bool plain = isalpha((unsigned char)*key) && strspn(key, harmless) == strlen(key);
    struct arena a;
    arena_init(&a, "yaml", 1 << 10);
    if (plain && value_scalar(&a, NOWHERE, key)->kind == VALUE_TEXT)
        strbuf_add(out, key);
    else
        add_text(out, key);
    arena_release(&a);
    strbuf_add(out, ":");
}

static void add_scalar(struct strbuf *out, const struct value *v)
{
    if (v->kind == VALUE_TEXT)
        add_text(out, v->text);
    else if (v->kind == VALUE_NULL)
        strbuf_add(out, "null");
    else if (v->kind == VALUE_BOOL)
        strbuf_add(out, v->boolean ? "true" : "false");
    else if (v->text)
        strbuf_add(out, v->text);
    else
        json_print(v, JSON_LINE, out);
}

static void add_line(struct strbuf *out, const struct value *v)
{
    if (v->kind != VALUE_LIST && v->kind != VALUE_MAP) {
        add_scalar(out, v);
        return;
    }
    bool map = v->kind == VALUE_MAP;
    strbuf_add(out, map ? "{" : "[");
    for (int i = 0; i < v->n; i++) {
        strbuf_add(out, i ? ", " : "");
        if (map) {
            add_key(out, v->key[i]);
            strbuf_add(out, " ");
        }
        add_line(out, v->item[i]);
    }
    strbuf_add(out, map ? "}" : "]");
}

static void add_block(struct strbuf *out, const struct value *v, int indent);

/* Behind "key:" or "-". */
static void add_item(struct strbuf *out, const struct value *v, int indent)
{
    struct strbuf line = STRBUF_NEW;
    add_line(&line, v);
    bool nested = (v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n > 0;
    if (!nested || line.n <= ONE_LINE) {
        strbuf_addf(out, " %s\n", line.text);
    } else {
        strbuf_add(out, "\n");
        add_block(out, v, indent + INDENT);
    }
    strbuf_release(&line);
}

static void add_block(struct strbuf *out, const struct value *v, int indent)
{
    for (int i = 0; i < v->n; i++) {
        strbuf_addf(out, "%*s", indent, "");
        if (v->kind == VALUE_MAP)
            add_key(out, v->key[i]);
        else
            strbuf_add(out, "-");
        add_item(out, v->item[i], indent);
    }
}

void yaml_text(const struct value *map, struct strbuf *out)
{
    add_block(out, map, 0);
}
