/* SPDX-License-Identifier: MIT */
/* checkvariants.c: the configs a plugin is checked with. */

#include "checkrig.h"
#include "plugin/paramrow.h"

/* The task's example of the file that this parameter names; NULL: it has none. */
static const peat_sample *sample_of(const struct checked *s, const peat_param *row)
{
    const peat_task *task = s->plugin->desc->interface;
    if (s->plugin->desc->kind != PEAT_TASK)
        return NULL;
    for (const peat_sample *sample = task->sample; sample && sample->key; sample++)
        if (!strcmp(sample->key, row->key))
            return sample;
    return NULL;
}

/* The path of a file with the example, or with some thousand lines; NULL: it cannot be written. */
static const char *stand_in_file(const struct checked *s, const peat_param *row)
{
    static const char *const word[] = {"one", "two", "three", "four", "five", "six", "seven"};
    const peat_sample *sample = sample_of(s, row);
    const char *path = arena_printf(s->arena, "%s/%s", s->scratch, row->key);
    struct strbuf text = STRBUF_NEW;
    for (int32_t i = 0; sample && i < sample->times; i++)
        strbuf_add_bytes(&text, sample->byte, sample->n);
    for (int line = 0; !sample && line < 2000; line++) {
        for (int i = 0; i < 5; i++)
            strbuf_addf(&text, "%s ", word[(line * 5 + i * i) % 7]);
        strbuf_addf(&text, "%d\n", line);
    }
    peat_status status = file_write(path, text.text, text.n, NULL);
    strbuf_release(&text);
    return status == PEAT_OK ? path : NULL;
}

static struct value *stand_in(const struct checked *s, const peat_param *row)
{
    struct arena *a = s->arena;
    const struct param_type *type = row_type(row);
    if (type->number)
        return value_real(a, NOWHERE, row_in_bounds(row, 1) ? 1 : row->max);
    if (row->labels)
        return value_text(a, NOWHERE, row->labels[0]);
    if (!type->text)
        return value_bool(a, NOWHERE, false);
    const char *path = row->flags & PEAT_PATH ? stand_in_file(s, row) : "text";
    return path ? value_text(a, NOWHERE, path) : NULL;
}

static struct value *with_stand_ins(const struct checked *s)
{
    struct value *map = value_map(s->arena, NOWHERE);
    for (const peat_param *row = s->plugin->desc->param; row && row->key; row++) {
        struct value *v = row->flags & PEAT_REQUIRED ? stand_in(s, row) : NULL;
        if (v)
            value_set(s->arena, map, row->key, NOWHERE, v);
    }
    return map;
}

static bool know_files(const struct checked *s, const void *config, struct error *err)
{
    const char *path, *hex;
    for (int i = 0; (path = params_path(s->plugin->desc->param, config, i)); i++)
        if (data_hash(s->files, path, &hex, err) != PEAT_OK)
            return false;
    return true;
}

bool checked_config(const struct checked *s, const struct value *over, const void **config,
                    struct error *err)
{
    const peat_plugin *desc = s->plugin->desc;
    void *filled = arena_zalloc(s->arena, desc->config_size + 1);
    struct value *given =
        value_merge(s->arena, with_stand_ins(s), (struct value *)(uintptr_t)s->given);
    given = value_merge(s->arena, given, (struct value *)(uintptr_t)over);
    const char *what = arena_printf(s->arena, "%s '%s'", kind_name(desc->kind), desc->id);
    *config = filled;
    return params_fill(desc->param, filled, given, what, NULL, s->arena, err) == PEAT_OK &&
           know_files(s, filled, err);
}

bool checked_variant(const struct checked *s, struct variant *v, struct check_outcome *o)
{
    struct error err = {0};
    *v = (struct variant){""};
    if (checked_config(s, NULL, &v->config, &err))
        return true;
    check_skip(o, "%s", err.text);
    return false;
}

/* NULL: the parameter is neither a label nor a switch. */
static const char *const *choices(const peat_param *row)
{
    static const char *const both[] = {"false", "true", NULL};
    return row->type == PEAT_BOOL ? both : row->type == PEAT_ENUM ? row->labels : NULL;
}

/* Adds a variant for every accepted choice except the one in `base`. */
static void add_choices(const struct checked *s, struct variants *v, const peat_param *row,
                        const void *base)
{
    const void *field = (const char *)base + row->offset;
    const char *const *choice = choices(row);
    bool is_switch = row->type == PEAT_BOOL;
    int64_t now = is_switch ? *(const bool *)field : *(const int64_t *)field;
    for (int i = 0; choice && choice[i]; i++) {
        struct variant one = {arena_printf(s->arena, "%s: %s", row->key, choice[i]), NULL};
        struct value *over = value_map(s->arena, NOWHERE);
        value_set(s->arena, over, row->key, NOWHERE,
                  is_switch ? value_bool(s->arena, NOWHERE, i)
                            : value_text(s->arena, NOWHERE, choice[i]));
        if (i != now && checked_config(s, over, &one.config, NULL))
            *ARENA_APPEND(s->arena, v->item, v->n, v->room) = one;
    }
}

const struct variants *variants_make(const struct checked *s, struct check_outcome *o)
{
    struct variants *v = ARENA_NEW(s->arena, struct variants);
    struct variant given;
    if (!checked_variant(s, &given, o))
        return NULL;
    *ARENA_APPEND(s->arena, v->item, v->n, v->room) = given;
    for (const peat_param *row = s->plugin->desc->param; row && row->key; row++)
        add_choices(s, v, row, given.config);
    return v;
}
