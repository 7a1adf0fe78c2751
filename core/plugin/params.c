/* SPDX-License-Identifier: MIT */
/* params.c: reads a map of settings into a config, key by key. */
#include "paramrefuse.h"

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

static peat_status refuse_key(const struct filling *f, const char *key, struct place at)
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

static peat_status fill_value(const struct filling *f, const peat_param *row, const struct value *v)
{
    if (row->flags & PEAT_AUTO && v->kind == VALUE_TEXT && strcmp(v->text, "auto") == 0)
        return PEAT_OK;
    return param_read(f, row, v);
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
    struct strbuf out = STRBUF_NEW;
    strbuf_addf(&out, "%s needs %s '%s': %s", f->what, is_plugin(f->what) ? "parameter" : "key",
                row->key, row->doc);
    return refuse(f, given ? given->at : (struct place){NULL, 0, 0}, &out);
}

static peat_status refuse_kind(const struct filling *f, const struct value *given)
{
    struct strbuf out = STRBUF_NEW;
    strbuf_addf(&out, "%s must be a map of keys and values", f->what);
    if (f->row && f->row->key)
        strbuf_addf(&out, " such as {%s: ...}", f->row->key);
    strbuf_addf(&out, ", not ");
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
