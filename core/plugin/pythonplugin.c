/* SPDX-License-Identifier: MIT */
/*
 * pythonplugin.c: a scheme that is Python alone, as a plugin. Its parameters and tensors are those
 * that the file declares; its hooks here only say where it acts, since PyTorch computes them
 * (run.engine: torch).
 */
#include "nn/positional.h"
#include "nn/setup.h"
#include "plugin/params.h"
#include "plugin/registry.h"
#include "process/python.h"

enum { FIELD_BYTES = 8 };

struct python_plugin {
    struct plugin plugin;
    peat_plugin desc;
    peat_scheme hooks;
};

/* What declared.py answers, in the arena; NULL: an error. */
static struct value *ask(const char *what, const char *path, const char *more, struct arena *a,
                         struct error *err)
{
    const char *const word[] = {what, path, more};
    const char *answer;
    peat_status status = python_ask("declared.py", word, more ? 3 : 2,
                                    "a scheme that is Python alone", a, &answer, err);
    return status == PEAT_OK ? json_parse(a, answer, strlen(answer), path, err) : NULL;
}

/* ---- set-up ---- */

/* The sizes and parameters that the function `tensors` may name. */
static const char *sizes_of(const struct setup *s, const struct python_plugin *p, struct arena *a)
{
    const peat_dims *d = &s->base.dims;
    struct json all = {a, params_value(p->desc.param, s->part->config, a)};
    const struct {
        const char *name;
        int64_t n;
    } size[] = {{"D", d->D}, {"H", s->heads},         {"C", d->C},        {"L", d->L}, {"d", d->d},
                {"V", d->V}, {"T_train", d->T_train}, {"T_max", d->T_max}};
    for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
        json_put_int(all, size[i].name, size[i].n);
    return json_to_text(all.v, JSON_DENSE, a);
}

static void declare(peat_setup *s, const struct value *one)
{
    static const peat_scope scope[] = {PEAT_ONCE, PEAT_PER_LAYER, PEAT_PER_USER};
    const struct value *shape = value_get(one, "shape");
    int64_t dim[PEAT_MAX_RANK];
    int rank = 0;
    for (; rank < shape->n && rank < PEAT_MAX_RANK; rank++)
        dim[rank] = shape->item[rank]->integer;
    double mean = json_get_number(one, "mean"), std = json_get_number(one, "std");
    peat_init init = {std > 0 ? PEAT_INIT_NORMAL : PEAT_INIT_CONSTANT, mean, std, NULL};
    peat_param_new(s, json_get_text(one, "name"), rank, dim, init,
                   scope[json_get_int(one, "scope", 2)], 0);
}

/* The scheme's part is the first member of its place in the model, and so finds the plugin. */
static peat_status setup(peat_setup *base, const void *config, void **self)
{
    (void)config;
    struct setup *s = (struct setup *)base;
    const peat_scheme *hooks = ((const struct scheme_part *)s->part)->hooks;
    const struct python_plugin *p =
        (const void *)((const char *)hooks - offsetof(struct python_plugin, hooks));
    const struct value *list =
        ask("tensors", p->plugin.path, sizes_of(s, p, s->arena), s->arena, s->err);
    for (int i = 0; list && i < list->n; i++)
        declare(base, list->item[i]);
    if (!list)
        s->status = s->err->status;
    int *n = peat_alloc(base, sizeof(*n));
    if (n)
        *n = list ? list->n : 0;
    *self = n;
    return n ? PEAT_OK : PEAT_NOMEM;
}

/* ---- hooks, which leave everything as it is ---- */

/* x plus 0 times each tensor: a plan asks that the loss depends on all of them. */
static peat_node *with_tensors(const peat_call *c, peat_node *x)
{
    const int *n = c->self;
    for (int i = 0; i < *n; i++) {
        peat_node *w = peat_use(c, i);
        peat_shape shape = peat_shape_of(c->g, w);
        int64_t count = 1;
        for (int k = 0; k < shape.rank; k++)
            count *= shape.dim[k];
        w = peat_sum(c->g, peat_reshape(c->g, w, 1, &count), 0);
        x = peat_add(c->g, x, peat_scale(c->g, w, 0));
    }
    return x;
}

static peat_node *encode(const peat_call *c)
{
    double *zero = peat_scratch(c, c->q->T * c->dims.d);
    for (int64_t i = 0; zero && i < c->q->T * c->dims.d; i++)
        zero[i] = 0;
    return with_tensors(c, peat_fill(c, 3, (int64_t[]){1, c->q->T, c->dims.d}, zero));
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return with_tensors(c, x);
}

static peat_status positions(const peat_call *c, double *pos)
{
    (void)c;
    (void)pos;
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->q = with_tensors(c, io->q);
    return PEAT_OK;
}

/* ---- the file ---- */

static peat_param row_of(const struct value *v, int i, struct arena *a)
{
    static const char *const types[] = {"bool", "whole", "real", "label"};
    static const peat_param_type type[] = {PEAT_BOOL, PEAT_INT, PEAT_REAL, PEAT_ENUM};
    const struct value *labels = value_get(v, "labels");
    peat_param row = {.key = json_get_text(v, "key"),
                      .doc = json_get_text(v, "doc"),
                      .offset = (size_t)i * FIELD_BYTES,
                      .preset = json_get_number(v, "preset")};
    int found = name_index(types, 4, json_text_or(v, "type", "real"));
    row.type = type[found < 0 ? 2 : found];
    if (value_get(v, "least")) {
        row.min = json_get_number(v, "least");
        row.max = json_get_number(v, "most");
    }
    if (labels) {
        const char **label = ARENA_ARRAY(a, labels->n + 1, const char *);
        for (int k = 0; k < labels->n; k++)
            label[k] = labels->item[k]->text;
        row.labels = label;
    }
    return row;
}

static bool fill_rows(struct python_plugin *p, const struct value *rows, struct arena *a,
                      struct error *err)
{
    peat_param *row = ARENA_ARRAY(a, rows->n + 1, peat_param);
    for (int i = 0; i < rows->n; i++) {
        row[i] = row_of(rows->item[i], i, a);
        if (!row[i].key || !row[i].doc)
            return error_fail(err, PEAT_INVALID, "'%s': a parameter needs a name and a meaning",
                              p->plugin.path);
    }
    row[rows->n] = (peat_param)PEAT_PARAM_END;
    p->desc.param = row;
    p->desc.config_size = (uint32_t)rows->n * FIELD_BYTES;
    return params_check(row, p->desc.config_size, err) == PEAT_OK ||
           (error_prefix(err, "'%s'", p->plugin.path), false);
}

static bool has(const struct value *declared, const char *hook)
{
    const struct value *v = value_get(declared, hook);
    return v && v->boolean;
}

peat_status python_plugin_load(struct arena *a, const char *path, const struct plugin **plugin,
                               struct error *err)
{
    struct error why = {0};
    struct python_plugin *p = ARENA_NEW(a, struct python_plugin);
    char *real = realpath(path, NULL);
    if (!real)
        return error_set(err, PEAT_NOTFOUND, "cannot open '%s': %s", path, strerror(errno));
    const char *name = path_name(real);
    *p = (struct python_plugin){
        .plugin = {.desc = &p->desc,
                   .name = arena_printf(a, "%.*s", (int)(strlen(name) - strlen(".py")), name),
                   .path = arena_strdup(a, real)},
        .desc = {.magic = PEAT_MAGIC,
                 .size = sizeof(p->desc),
                 .abi_major = PEAT_ABI_MAJOR,
                 .version = "0",
                 .summary = "Python alone",
                 .licence = "",
                 .citation = "",
                 .kind = PEAT_SCHEME,
                 .interface = &p->hooks},
        .hooks = {.size = sizeof(p->hooks), .traits = PEAT_ACROSS, .setup = setup}};
    free(real);
    p->desc.id = p->plugin.name;
    const struct value *declared = ask("plugin", p->plugin.path, NULL, a, &why);
    if (declared && fill_rows(p, value_get(declared, "rows"), a, &why) &&
        hash_file(p->plugin.path, p->plugin.sha256, &why) == PEAT_OK) {
        p->hooks.encode = has(declared, "encode") ? encode : NULL;
        p->hooks.residual = has(declared, "residual") ? residual : NULL;
        p->hooks.positions = has(declared, "positions") ? positions : NULL;
        p->hooks.qkv = has(declared, "attention") ? qkv : NULL;
        *plugin = &p->plugin;
    }
    return error_copy(err, &why);
}
