/* SPDX-License-Identifier: MIT */
/* paramrefuse.c: messages about parameters that are refused. */
#include "paramrefuse.h"

#include <strings.h>

#define SHOWN_BYTES 60

const char *value_written(const struct value *v)
{
    return v->kind == VALUE_LIST || v->kind == VALUE_MAP ? NULL : v->text;
}

/* Shortens the text to at most one line. */
static void add_shown(struct strbuf *out, const char *text)
{
    size_t n = strlen(text);
    bool cut = n > SHOWN_BYTES;
    if (cut)
        for (n = SHOWN_BYTES; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        strbuf_add_bytes(out, (unsigned char)text[i] < 0x20 ? " " : text + i, 1);
    strbuf_add(out, cut ? "..." : "");
}

void add_quoted(struct strbuf *out, const char *text)
{
    strbuf_add(out, "'");
    add_shown(out, text);
    strbuf_add(out, "'");
}

void add_found(struct strbuf *out, const struct value *v)
{
    if (v->kind == VALUE_LIST)
        strbuf_add(out, v->n > 0 ? "a list" : "an empty list");
    else if (v->kind == VALUE_MAP)
        strbuf_add(out, "a map");
    else if (v->kind == VALUE_TEXT)
        add_quoted(out, v->text);
    else
        add_shown(out, v->text && v->text[0] ? v->text : "nothing");
}

const char *suggest_name(const char *word, const char *const *name, int n)
{
    const char *nearest = nearest_name(word, name, n);
    int similar = 0;
    if (nearest || strlen(word) < 3)
        return nearest;
    for (int i = 0; i < n; i++) {
        if (strncmp(name[i], word, 3) == 0) {
            nearest = name[i];
            similar++;
        }
    }
    return similar == 1 ? nearest : NULL;
}

bool is_plugin(const char *what)
{
    return strchr(what, '\'') != NULL;
}

static void add_subject(struct strbuf *out, const struct filling *f, const peat_param *row)
{
    if (is_plugin(f->what))
        strbuf_addf(out, "parameter '%s' of %s", row->key, f->what);
    else
        strbuf_addf(out, "'%s' in %s", row->key, f->what);
}

peat_status refuse(const struct filling *f, struct place at, struct strbuf *out)
{
    peat_status status = place_error(f->err, at, "%s", out->text);
    strbuf_release(out);
    return status;
}

/* The words that YAML 1.1 read as booleans. */
static bool is_old_boolean(const char *text)
{
    static const char *const old[] = {"yes", "no", "on", "off", "y", "n"};
    for (size_t i = 0; text && i < sizeof(old) / sizeof(*old); i++)
        if (strcasecmp(text, old[i]) == 0)
            return true;
    return false;
}

static void add_hint(struct strbuf *out, const peat_param *row, const struct value *v)
{
    const char *text = value_written(v);
    bool wants_text = row_type(row)->text;
    const char *near = NULL;
    if (row->type == PEAT_ENUM && text)
        near = suggest_name(text, row->labels, names_count(row->labels));
    if (near)
        strbuf_addf(out, "; did you mean '%s'?", near);
    else if (row->type == PEAT_BOOL && is_old_boolean(text))
        strbuf_add(out, "; only true and false are booleans");
    else if (wants_text && v->kind == VALUE_TEXT)
        strbuf_add(out, "; it cannot be empty");
    else if (wants_text && text && text[0])
        strbuf_add(out, "; put it in quotes to make it a text");
}

peat_status refuse_value(const struct filling *f, const peat_param *row, bool item,
                         const struct value *v)
{
    struct strbuf out = STRBUF_NEW;
    if (item)
        strbuf_add(&out, "each item of ");
    add_subject(&out, f, row);
    strbuf_add(&out, " must be ");
    if (item)
        row_allowed_one(row, &out);
    else
        strbuf_add(&out, params_allowed(row, f->a));
    strbuf_add(&out, ", not ");
    add_found(&out, v);
    add_hint(&out, row, v);
    return refuse(f, v->at, &out);
}

peat_status refuse_path(const struct filling *f, const peat_param *row, const struct value *v,
                        const char *looked_for, int error)
{
    struct strbuf out = STRBUF_NEW;
    add_subject(&out, f, row);
    strbuf_add(&out, " names ");
    add_quoted(&out, v->text);
    strbuf_add(&out, ", which ");
    if (error != ENOENT && error != ENOTDIR)
        strbuf_addf(&out, "cannot be reached (%s: %s)", looked_for, strerror(error));
    else if (strcmp(looked_for, v->text) == 0)
        strbuf_add(&out, "does not exist");
    else
        strbuf_addf(&out, "does not exist (looked for '%s')", looked_for);
    return refuse(f, v->at, &out);
}
