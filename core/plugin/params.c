/* SPDX-License-Identifier: MIT */
/* params.c: reads a map of settings into a config, key by key, and says what is refused. */
#include <strings.h>

#include "plugin/paramrow.h"

/* The state of one call of params_fill. */
struct filling {
    const peat_param *row; /* the table of rows */
    char *config;
    const char *what;
    const char *const *reserved;
    struct arena *a;
    struct error *err;
};

/* ---- messages ---- */

#define SHOWN_BYTES 60

/* A scalar as the user wrote it; NULL for lists and maps. */
static const char *value_written(const struct value *v)
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

/* The nearest name, or else the only one that begins with the same three letters. */
static const char *suggest_name(const char *word, const char *const *name, int n)
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

/* "scheme 'rotary'" or "train": plugins are named with their kind, sections of the file are not. */
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

/* Sets f->err to the text in `out`, placed at `at`, and releases out. Returns false, as the
 * functions below. */
static bool refuse(const struct filling *f, struct place at, struct strbuf *out)
{
    mistake(f->err, at, "%s", out->text);
    strbuf_release(out);
    return false;
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
    else if (text && strchr(text, ',') && text[0] != '[')
        strbuf_addf(out, "; a list is written [%s]", text);
    else if (row->type == PEAT_BOOL && is_old_boolean(text))
        strbuf_add(out, "; only true and false are booleans");
    else if (wants_text && v->kind == VALUE_TEXT)
        strbuf_add(out, "; it cannot be empty");
    else if (wants_text && text && text[0])
        strbuf_add(out, "; put it in quotes to make it a text");
}

/* `item`: v is in a list, and the message is about each item of it. */
static bool refuse_value(const struct filling *f, const peat_param *row, bool item,
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

/* looked_for: the path as resolved; error: the errno of reaching it */
static bool refuse_path(const struct filling *f, const peat_param *row, const struct value *v,
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

/* ---- one value ---- */

/* `item`: v is in a list. */
typedef bool reader(const struct filling *f, const peat_param *row, bool item,
                    const struct value *v, void *field);

static bool read_bool(const struct filling *f, const peat_param *row, bool item,
                      const struct value *v, void *field)
{
    *(bool *)field = v->boolean;
    return v->kind == VALUE_BOOL || refuse_value(f, row, item, v);
}

/* 1e3 is a whole number too. */
static bool read_whole(const struct filling *f, const peat_param *row, bool item,
                       const struct value *v, void *field)
{
    bool whole = v->kind == VALUE_INT ||
                 (v->kind == VALUE_REAL && fabs(v->real) <= WHOLE_MAX && v->real == trunc(v->real));
    if (!whole || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(int64_t *)field = v->kind == VALUE_INT ? v->integer : (int64_t)v->real;
    return true;
}

static bool read_real(const struct filling *f, const peat_param *row, bool item,
                      const struct value *v, void *field)
{
    if ((v->kind != VALUE_INT && v->kind != VALUE_REAL) || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(double *)field = v->real;
    return true;
}

/* Labels are compared with the text as written, because a label may look like a number. */
static bool read_label(const struct filling *f, const peat_param *row, bool item,
                       const struct value *v, void *field)
{
    const char *text = value_written(v);
    int label = text ? name_index(row->labels, names_count(row->labels), text) : -1;
    if (label < 0)
        return refuse_value(f, row, item, v);
    *(int64_t *)field = label;
    return true;
}

static bool read_path(const struct filling *f, const peat_param *row, const struct value *v,
                      const char **path)
{
    const char *looked_for;
    *path = value_path(f->a, v, &looked_for);
    return *path || refuse_path(f, row, v, looked_for, errno);
}

/* "" means not given, so it is refused for a required parameter and for a path in a list. */
static bool read_text(const struct filling *f, const peat_param *row, bool item,
                      const struct value *v, void *field)
{
    if (v->kind != VALUE_TEXT || (!v->text[0] && row->flags & (item ? PEAT_PATH : PEAT_REQUIRED)))
        return refuse_value(f, row, item, v);
    if (row->flags & PEAT_PATH && v->text[0])
        return read_path(f, row, v, field);
    *(const char **)field = arena_strdup(f->a, v->text);
    return true;
}

/* A single value is a list of one. */
static bool read_list(const struct filling *f, const peat_param *row, reader *read_item,
                      const struct value *v, void *field)
{
    const struct param_type *type = row_type(row)->item;
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    char *items = arena_array(f->a, (size_t)n + 1, type->bytes);
    if (n == 0 && row->flags & PEAT_REQUIRED)
        return refuse_value(f, row, false, v);
    for (int i = 0; i < n; i++)
        if (!read_item(f, row, list, list ? v->item[i] : v, items + (size_t)i * type->bytes))
            return false;
    memcpy(field, &(struct param_list){n, items}, sizeof(struct param_list));
    return true;
}

static bool read_texts(const struct filling *f, const peat_param *row, bool item,
                       const struct value *v, void *field)
{
    (void)item;
    return read_list(f, row, read_text, v, field);
}

static bool read_reals(const struct filling *f, const peat_param *row, bool item,
                       const struct value *v, void *field)
{
    peat_reals *list = field;
    (void)item;
    bool ok = read_list(f, row, read_real, v, field);
    if (ok) /* a plugin that reads more than there is sees no number */
        ((double *)(uintptr_t)list->item)[list->n] = (double)NAN;
    return ok;
}

/* Reads v into the row's field of f->config; false: f->err has the allowed values. */
static bool param_read(const struct filling *f, const peat_param *row, const struct value *v)
{
    static reader *const by_type[] = {
        [PEAT_BOOL] = read_bool,   [PEAT_INT] = read_whole,   [PEAT_REAL] = read_real,
        [PEAT_ENUM] = read_label,  [PEAT_STRING] = read_text, [PEAT_STRINGS] = read_texts,
        [PEAT_REALS] = read_reals,
    };
    bool automatic =
        row->flags & PEAT_AUTO && v->kind == VALUE_TEXT && strcmp(v->text, "auto") == 0;
    return automatic || by_type[row->type](f, row, false, v, f->config + row->offset);
}

/* ---- a map ---- */

/* Every name that a key could have been meant to be; *n of them. */
static const char **known_keys(const struct filling *f, int *n)
{
    int n_row = rows_count(f->row), n_reserved = names_count(f->reserved);
    const char **name = ARENA_ARRAY(f->a, n_row + n_reserved + 1, const char *);
    for (int i = 0; i < n_row; i++)
        name[i] = f->row[i].key;
    for (int i = 0; i < n_reserved; i++)
        name[n_row + i] = f->reserved[i];
    *n = n_row + n_reserved;
    return name;
}

static bool refuse_key(const struct filling *f, const char *key, struct place at)
{
    int n;
    const char **name = known_keys(f, &n);
    const char *near = suggest_name(key, name, n);
    struct strbuf out = STRBUF_NEW;
    strbuf_add(&out, is_plugin(f->what) ? "unknown parameter " : "unknown key ");
    add_quoted(&out, key);
    strbuf_addf(&out, is_plugin(f->what) ? " of %s" : " in %s", f->what);
    if (near) {
        strbuf_addf(&out, "; did you mean '%s'?", near);
    } else if (n > 0) {
        strbuf_add(&out, "; allowed: ");
        /* The engine's keys are left out of the list for a plugin. */
        bool own = is_plugin(f->what) && rows_count(f->row) > 0;
        strbuf_join(&out, name, own ? rows_count(f->row) : n);
    } else {
        strbuf_addf(&out, "; %s takes none", f->what);
    }
    return refuse(f, at, &out);
}

static void fill_preset(const struct filling *f, const peat_param *row)
{
    const struct param_type *type = row_type(row);
    void *field = f->config + row->offset;
    memset(field, 0, type->bytes);
    if (type->write)
        type->write(field, row->flags & PEAT_AUTO ? 0 : row->preset);
    else if (!type->item)
        *(const char **)field = "";
}

static bool fill_given(const struct filling *f, const struct value *given)
{
    for (int i = 0; i < given->n; i++) {
        const char *key = given->key[i];
        if (names_find(f->reserved, key) >= 0)
            continue;
        const peat_param *row = rows_find(f->row, key);
        if (!row)
            return refuse_key(f, key, given->key_at[i]);
        if (!param_read(f, row, given->item[i]))
            return false;
    }
    return true;
}

static bool refuse_missing(const struct filling *f, const peat_param *row,
                           const struct value *given)
{
    struct strbuf out = STRBUF_NEW;
    strbuf_addf(&out, "%s needs %s '%s': %s", f->what, is_plugin(f->what) ? "parameter" : "key",
                row->key, row->doc);
    return refuse(f, given ? given->at : (struct place){NULL, 0, 0}, &out);
}

static bool refuse_kind(const struct filling *f, const struct value *given)
{
    struct strbuf out = STRBUF_NEW;
    strbuf_addf(&out, "%s must be a map of keys and values", f->what);
    if (f->row && f->row->key)
        strbuf_addf(&out, " such as {%s: ...}", f->row->key);
    strbuf_addf(&out, ", not ");
    add_found(&out, given);
    return refuse(f, given->at, &out);
}

static bool has_needed(const struct filling *f, const struct value *given)
{
    for (const peat_param *p = f->row; p && p->key; p++)
        if (p->flags & PEAT_REQUIRED && !value_get(given, p->key))
            return refuse_missing(f, p, given);
    return true;
}

peat_status params_fill(const peat_param *row, void *config, const struct value *given,
                        const char *what, const char *const *reserved, struct arena *a,
                        struct error *err)
{
    const struct filling f = {row, config, what, reserved, a, err};
    for (const peat_param *p = row; p && p->key; p++)
        fill_preset(&f, p);
    bool is_map = given && given->kind == VALUE_MAP, none = !given || given->kind == VALUE_NULL;
    bool ok = (none || is_map || refuse_kind(&f, given)) && (none || fill_given(&f, given)) &&
              has_needed(&f, given);
    return ok ? PEAT_OK : PEAT_INVALID;
}

const char *params_path(const peat_param *row, const void *config, int i)
{
    for (; row && row->key; row++) {
        peat_strings paths = row->flags & PEAT_PATH ? row_paths(row, config) : (peat_strings){0};
        for (int64_t k = 0; k < paths.n; k++)
            if (paths.item[k] && *paths.item[k] && i-- == 0)
                return paths.item[k];
    }
    return NULL;
}
