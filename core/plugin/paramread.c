/* SPDX-License-Identifier: MIT */
/* paramread.c: reads parameters of each type from the user's settings. */
#include "paramrefuse.h"

/* `item`: v is in a list. */
typedef peat_status reader(const struct filling *f, const peat_param *row, bool item,
                           const struct value *v, void *field);

static peat_status read_bool(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    *(bool *)field = v->boolean;
    return v->kind == VALUE_BOOL ? PEAT_OK : refuse_value(f, row, item, v);
}

/* 1e3 is a whole number too. */
static peat_status read_whole(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    bool whole = v->kind == VALUE_INT ||
                 (v->kind == VALUE_REAL && fabs(v->real) <= WHOLE_MAX && v->real == trunc(v->real));
    if (!whole || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(int64_t *)field = v->kind == VALUE_INT ? v->integer : (int64_t)v->real;
    return PEAT_OK;
}

static peat_status read_real(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    if ((v->kind != VALUE_INT && v->kind != VALUE_REAL) || !row_in_bounds(row, v->real))
        return refuse_value(f, row, item, v);
    *(double *)field = v->real;
    return PEAT_OK;
}

/* Labels are compared with the text as written, because a label may look like a number. */
static peat_status read_label(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    const char *text = value_written(v);
    int label = text ? name_index(row->labels, names_count(row->labels), text) : -1;
    if (label < 0)
        return refuse_value(f, row, item, v);
    *(int64_t *)field = label;
    return PEAT_OK;
}

/* The absolute path of an existing file, so a config means the same wherever it is read again. */
static peat_status read_path(const struct filling *f, const peat_param *row, const struct value *v,
                             const char **path)
{
    bool from_here = !v->at.file || strcmp(v->at.file, "command line") == 0;
    char *beside = path_beside(from_here ? "" : v->at.file, v->text);
    char *absolute = realpath(beside, NULL);
    peat_status status = PEAT_OK;
    if (absolute)
        *path = arena_strdup(f->a, absolute);
    else
        status = refuse_path(f, row, v, beside, errno);
    free(absolute);
    free(beside);
    return status;
}

/* "" means not given, so it is refused for a required parameter and for a path in a list. */
static peat_status read_text(const struct filling *f, const peat_param *row, bool item,
                             const struct value *v, void *field)
{
    if (v->kind != VALUE_TEXT || (!v->text[0] && row->flags & (item ? PEAT_PATH : PEAT_REQUIRED)))
        return refuse_value(f, row, item, v);
    if (row->flags & PEAT_PATH && v->text[0])
        return read_path(f, row, v, field);
    *(const char **)field = arena_strdup(f->a, v->text);
    return PEAT_OK;
}

/* A single value is a list of one. */
static peat_status read_list(const struct filling *f, const peat_param *row, reader *read_item,
                             const struct value *v, void *field)
{
    const struct param_type *type = row_type(row)->item;
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    char *items = arena_array(f->a, (size_t)n + 1, type->bytes);
    if (n == 0 && row->flags & PEAT_REQUIRED)
        return refuse_value(f, row, false, v);
    for (int i = 0; i < n; i++) {
        peat_status status =
            read_item(f, row, list, list ? v->item[i] : v, items + (size_t)i * type->bytes);
        if (status != PEAT_OK)
            return status;
    }
    memcpy(field, &(struct param_list){n, items}, sizeof(struct param_list));
    return PEAT_OK;
}

static peat_status read_texts(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    (void)item;
    return read_list(f, row, read_text, v, field);
}

static peat_status read_reals(const struct filling *f, const peat_param *row, bool item,
                              const struct value *v, void *field)
{
    (void)item;
    return read_list(f, row, read_real, v, field);
}

peat_status param_read(const struct filling *f, const peat_param *row, const struct value *v)
{
    static reader *const by_type[] = {
        [PEAT_BOOL] = read_bool,   [PEAT_INT] = read_whole,   [PEAT_REAL] = read_real,
        [PEAT_ENUM] = read_label,  [PEAT_STRING] = read_text, [PEAT_STRINGS] = read_texts,
        [PEAT_REALS] = read_reals,
    };
    return by_type[row->type](f, row, false, v, f->config + row->offset);
}
