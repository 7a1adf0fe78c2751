/* SPDX-License-Identifier: MIT */
/* checksettings.c: the parameters a plugin is checked with. */

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
    const char *path =
        arena_printf(s->arena, "%s/%s", dir_has(s->cells, ".") ? s->cells : s->scratch, row->key);
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

struct value *checked_settings(const struct checked *s, const struct value *over)
{
    struct value *given =
        value_merge(s->arena, with_stand_ins(s), (struct value *)(uintptr_t)s->given);
    return value_merge(s->arena, given, (struct value *)(uintptr_t)over);
}

bool checked_config(const struct checked *s, const struct value *over, const void **config,
                    struct error *err)
{
    const peat_plugin *desc = s->plugin->desc;
    void *filled = arena_zalloc(s->arena, desc->config_size + 1);
    const char *what = arena_printf(s->arena, "%s '%s'", kind_name(desc->kind), desc->id);
    *config = filled;
    return params_fill(desc->param, filled, checked_settings(s, over), what, NULL, s->arena, err) ==
               PEAT_OK &&
           know_files(s, filled, err);
}
