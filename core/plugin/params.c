/* SPDX-License-Identifier: MIT */
/* params.c: from what the user wrote to a config, or to a message that says what is wrong. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "plugin/paramrow.h"

#define SHOWN_BYTES 60

/* What one call of params_fill works on. */
struct filling {
    const peat_param *row; /* the table */
    char *config;
    const char *what;
    const char *const *reserved;
    struct arena *a;
    struct error *err;
};

/* ---- words for messages ---- */

/* A scalar as the user wrote it, NULL for lists and maps. */
static const char *written(const struct value *v)
{
    return v->kind == VALUE_LIST || v->kind == VALUE_MAP ? NULL : v->text;
}

/* One line at most, however long the text is. */
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

static void add_quoted(struct strbuf *out, const char *text)
{
    strbuf_add(out, "'");
    add_shown(out, text);
    strbuf_add(out, "'");
}

static void add_found(struct strbuf *out, const struct value *v)
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

/* The nearest name; else the only one that begins with the same three letters. */
static const char *suggest(const char *word, const char *const *name, int n)
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

/* Plugins are named with their kind, sections of the file are not: "scheme 'rotary'", "train". */
static bool is_plugin(const char *what)
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

/* Places the text in out, which it releases. */
static peat_status refuse(const struct filling *f, struct place at, struct strbuf *out)
{
    peat_status status = place_error(f->err, at, "%s", out->text);
    strbuf_release(out);
    return status;
}

/* Every name a key could have been meant as; *n of them. NULL when memory has run out. */
static const char **known_keys(const struct filling *f, int *n)
{
    int n_row = rows_count(f->row), n_reserved = names_count(f->reserved);
    const char **name = ARENA_ARRAY(f->a, n_row + n_reserved + 1, const char *);
    for (int i = 0; name && i < n_row; i++)
        name[i] = f->row[i].key;
    for (int i = 0; name && i < n_reserved; i++)
        name[n_row + i] = f->reserved[i];
    *n = n_row + n_reserved;
    return name;
}

static peat_status refuse_key(const struct filling *f, const char *key, struct place at)
{
    int n;
    const char **name = known_keys(f, &n);
    if (!name)
        return error_set(f->err, PEAT_NOMEM, "out of memory");
    const char *near = suggest(key, name, n);
    struct strbuf out;
    strbuf_init(&out);
    strbuf_add(&out, is_plugin(f->what) ? "unknown parameter " : "unknown key ");
    add_quoted(&out, key);
    strbuf_addf(&out, is_plugin(f->what) ? " of %s" : " in %s", f->what);
    if (near) {
        strbuf_addf(&out, "; did you mean '%s'?", near);
    } else if (n > 0) {
        strbuf_add(&out, "; allowed: ");
        name[rows_count(f->row)] = NULL;
        names_add(&out, rows_count(f->row) > 0 ? name : f->reserved);
    } else {
        strbuf_addf(&out, "; %s takes none", f->what);
    }
    return refuse(f, at, &out);
}

/* The words that YAML 1.1 took for booleans. */
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
    const char *text = written(v);
    bool wants_text = row->type == PEAT_STRING || row->type == PEAT_STRINGS;
    const char *near = NULL;
    if (row->type == PEAT_ENUM && text)
        near = suggest(text, row->labels, names_count(row->labels));
    if (near)
        strbuf_addf(out, "; did you mean '%s'?", near);
    else if (row->type == PEAT_BOOL && is_old_boolean(text))
        strbuf_add(out, "; only true and false are booleans");
    else if (wants_text && v->kind == VALUE_TEXT)
        strbuf_add(out, "; it cannot be empty");
    else if (wants_text && text && text[0])
        strbuf_add(out, "; put it in quotes to make it a text");
}

/* ---- from settings to the config ---- */

/* `item`: v stands in a list, and each item of it is meant. */
static peat_status refuse_value(const struct filling *f, const peat_param *row, bool item,
                                const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out);
    if (item)
        strbuf_add(&out, "each item of ");
    add_subject(&out, f, row);
    strbuf_add(&out, " must be ");
    if (item)
        row_allowed_one(row, &out);
    else
        params_allowed(row, &out);
    strbuf_add(&out, ", not ");
    add_found(&out, v);
    add_hint(&out, row, v);
    return refuse(f, v->at, &out);
}

static peat_status no_memory(const struct filling *f)
{
    return error_set(f->err, PEAT_NOMEM, "out of memory");
}

static peat_status refuse_path(const struct filling *f, const peat_param *row,
                               const struct value *v, const char *looked_for, int error)
{
    struct strbuf out;
    strbuf_init(&out);
    add_subject(&out, f, row);
    strbuf_add(&out, " names ");
    add_quoted(&out, v->text);
    strbuf_add(&out, ", which ");
    if (error == ENOENT || error == ENOTDIR)
        strbuf_addf(&out, "does not exist (looked for '%s')", looked_for);
    else
        strbuf_addf(&out, "cannot be reached (%s: %s)", looked_for, strerror(error));
    return refuse(f, v->at, &out);
}

/* The absolute path of an existing file: a config means the same wherever it is read again. */
static peat_status resolve(const struct filling *f, const peat_param *row, const struct value *v,
                           const char **path)
{
    bool from_here = !v->at.file || strcmp(v->at.file, "command line") == 0;
    char *beside = path_beside(from_here ? "" : v->at.file, v->text);
    char *absolute = realpath(beside, NULL);
    peat_status status = PEAT_OK;
    if (!absolute)
        status = refuse_path(f, row, v, beside, errno);
    else if (!(*path = arena_strdup(f->a, absolute)))
        status = no_memory(f);
    free(absolute);
    free(beside);
    return status;
}

/* "" means not given: what is required cannot be "", nor can a path in a list. */
static peat_status fill_text(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, const char **field)
{
    if (v->kind != VALUE_TEXT)
        return refuse_value(f, row, item, v);
    if (!v->text[0] && row->flags & (item ? PEAT_PATH : PEAT_REQUIRED))
        return refuse_value(f, row, item, v);
    if (row->flags & PEAT_PATH && v->text[0])
        return resolve(f, row, v, field);
    *field = arena_strdup(f->a, v->text);
    return *field ? PEAT_OK : no_memory(f);
}

static peat_status fill_number(const struct filling *f, const peat_param *row, bool item,
                               const struct value *v, double *field)
{
    if ((v->kind != VALUE_INT && v->kind != VALUE_REAL) || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *field = v->real;
    return PEAT_OK;
}

/* 1e3 is a whole number too. */
static peat_status fill_whole(const struct filling *f, const peat_param *row, const struct value *v,
                              int64_t *field)
{
    bool whole = v->kind == VALUE_INT ||
                 (v->kind == VALUE_REAL && fabs(v->real) <= WHOLE_MAX && v->real == trunc(v->real));
    if (!whole || !row_in_bounds(row, v->real))
        return refuse_value(f, row, false, v);
    *field = v->kind == VALUE_INT ? v->integer : (int64_t)v->real;
    return PEAT_OK;
}

/* Labels are compared with what was written: a label may look like a number. */
static peat_status fill_label(const struct filling *f, const peat_param *row, const struct value *v,
                              int64_t *field)
{
    const char *text = written(v);
    int label = text ? names_find(row->labels, text) : -1;
    if (label < 0)
        return refuse_value(f, row, false, v);
    *field = label;
    return PEAT_OK;
}

static bool is_empty_required(const peat_param *row, const struct value *v)
{
    return v->kind == VALUE_LIST && v->n == 0 && row->flags & PEAT_REQUIRED;
}

static peat_status fill_texts(const struct filling *f, const peat_param *row, const struct value *v,
                              peat_strings *field)
{
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    const char **item = ARENA_ARRAY(f->a, n + 1, const char *);
    if (!item)
        return no_memory(f);
    if (is_empty_required(row, v) || (!list && v->kind != VALUE_TEXT))
        return refuse_value(f, row, false, v);
    for (int i = 0; i < n; i++) {
        const struct value *one = list ? v->item[i] : v;
        peat_status status = fill_text(f, row, list, one, &item[i]);
        if (status != PEAT_OK)
            return status;
    }
    *field = (peat_strings){n, item};
    return PEAT_OK;
}

static peat_status fill_numbers(const struct filling *f, const peat_param *row,
                                const struct value *v, peat_reals *field)
{
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    double *item = ARENA_ARRAY(f->a, n + 1, double);
    if (!item)
        return no_memory(f);
    if (is_empty_required(row, v))
        return refuse_value(f, row, false, v);
    for (int i = 0; i < n; i++) {
        const struct value *one = list ? v->item[i] : v;
        peat_status status = fill_number(f, row, list, one, &item[i]);
        if (status != PEAT_OK)
            return status;
    }
    *field = (peat_reals){n, item};
    return PEAT_OK;
}

static peat_status fill_value(const struct filling *f, const peat_param *row, const struct value *v)
{
    void *field = f->config + row->offset;
    if (row->flags & PEAT_AUTO && v->kind == VALUE_TEXT && strcmp(v->text, "auto") == 0)
        return PEAT_OK;
    switch (row->type) {
    case PEAT_BOOL:
        *(bool *)field = v->boolean;
        return v->kind == VALUE_BOOL ? PEAT_OK : refuse_value(f, row, false, v);
    case PEAT_INT:
        return fill_whole(f, row, v, field);
    case PEAT_REAL:
        return fill_number(f, row, false, v, field);
    case PEAT_ENUM:
        return fill_label(f, row, v, field);
    case PEAT_STRING:
        return fill_text(f, row, false, v, field);
    case PEAT_STRINGS:
        return fill_texts(f, row, v, field);
    case PEAT_REALS:
        return fill_numbers(f, row, v, field);
    }
    BUG("parameter '%s' has no type", row->key);
}

static void fill_preset(const struct filling *f, const peat_param *row)
{
    void *field = f->config + row->offset;
    double preset = row->flags & PEAT_AUTO ? 0 : row->preset;
    switch (row->type) {
    case PEAT_BOOL:
        *(bool *)field = preset != 0;
        break;
    case PEAT_INT:
    case PEAT_ENUM:
        *(int64_t *)field = (int64_t)preset;
        break;
    case PEAT_REAL:
        *(double *)field = preset;
        break;
    case PEAT_STRING:
        *(const char **)field = "";
        break;
    case PEAT_STRINGS:
        *(peat_strings *)field = (peat_strings){0, NULL};
        break;
    case PEAT_REALS:
        *(peat_reals *)field = (peat_reals){0, NULL};
        break;
    }
}

static peat_status fill_given(const struct filling *f, const struct value *given)
{
    for (int i = 0; i < given->n; i++) {
        const char *key = given->key[i];
        if (names_find(f->reserved, key) >= 0)
            continue;
        const peat_param *row = rows_find(f->row, key);
        if (!row)
            return refuse_key(f, key, given->key_at[i]);
        peat_status status = fill_value(f, row, given->item[i]);
        if (status != PEAT_OK)
            return status;
    }
    return PEAT_OK;
}

static peat_status refuse_missing(const struct filling *f, const peat_param *row,
                                  const struct value *given)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "%s needs %s '%s': %s", f->what, is_plugin(f->what) ? "parameter" : "key",
                row->key, row->doc);
    return refuse(f, given ? given->at : (struct place){NULL, 0, 0}, &out);
}

static peat_status refuse_kind(const struct filling *f, const struct value *given)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_addf(&out, "%s must be a map of keys and values, not ", f->what);
    add_found(&out, given);
    return refuse(f, given->at, &out);
}

peat_status params_fill(const peat_param *row, void *config, const struct value *given,
                        const char *what, const char *const *reserved, struct arena *a,
                        struct error *err)
{
    const struct filling f = {row, config, what, reserved, a, err};
    for (const peat_param *p = row; p && p->key; p++)
        fill_preset(&f, p);
    bool is_map = given && given->kind == VALUE_MAP;
    if (given && !is_map && given->kind != VALUE_NULL)
        return refuse_kind(&f, given);
    peat_status status = is_map ? fill_given(&f, given) : PEAT_OK;
    if (status != PEAT_OK)
        return status;
    for (const peat_param *p = row; p && p->key; p++)
        if (p->flags & PEAT_REQUIRED && !(is_map && value_get(given, p->key)))
            return refuse_missing(&f, p, given);
    return PEAT_OK;
}
