/* SPDX-License-Identifier: MIT */
/*
 * drawn.c: draws cells for a plugin.
 *
 * Settings of the model and of plugins are drawn from the rows of their tables, so that a new
 * setting, label, task, scheme or combination is met without a line here. What the plugin refuses
 * is drawn again.
 */
#include "checkrig.h"
#include "experiment/resolved.h"
#include "plugin/paramrow.h"
#include "property.h"

struct draws {
    const struct checked *s;
    struct arena *a;
    uint64_t stream, at;
    int64_t index, attempt;
    const char *file; /* has the cell that is tried */
};

static int64_t draw(struct draws *d, int64_t n)
{
    return (int64_t)(rng_bits(d->stream, d->at++) % (uint64_t)n);
}

#define DRAW_FROM(d, list) ((list)[draw((d), (int64_t)(sizeof(list) / sizeof(*(list))))])

static void put(struct draws *d, struct value *map, const char *key, struct value *item)
{
    value_set(d->a, map, key, NOWHERE, item);
}

static struct value *whole(struct draws *d, int64_t x)
{
    return value_scalar(d->a, NOWHERE, arena_printf(d->a, "%" PRId64, x));
}

static struct value *text_of(struct draws *d, const char *text)
{
    return value_scalar(d->a, NOWHERE, text);
}

/* ---- rows ---- */

/* A number within a factor of 4 of the default, or small if that is 0; sometimes a token id. */
static struct value *draw_number(struct draws *d, const peat_param *row)
{
    bool is_whole = row->type == PEAT_INT;
    double preset = row->flags & (PEAT_AUTO | PEAT_REQUIRED) ? 0 : row->preset;
    double x = pow(4, (double)draw(d, 2001) / 1000.0 - 1) * preset;
    if (preset == 0)
        x = is_whole ? (double)draw(d, 12) : (double)draw(d, 1001) / 1000.0;
    if (is_whole && draw(d, 4) == 0)
        x = (double)draw(d, 128);
    if (row_has_bounds(row))
        x = fmin(fmax(x, row->min), row->max);
    struct value *v = text_of(d, arena_printf(d->a, is_whole ? "%.0f" : "%.3g", x));
    return row_in_bounds(row, v->real) ? v : NULL;
}

static const char *const switches[] = {"false", "true", NULL};

static struct value *draw_value(struct draws *d, const peat_param *row)
{
    const struct param_type *type = row_type(row);
    if (row->type == PEAT_BOOL)
        return text_of(d, switches[draw(d, 2)]);
    if (row->type == PEAT_ENUM)
        return value_text(d->a, NOWHERE, row->labels[draw(d, names_count(row->labels))]);
    struct value *v = type->number ? draw_number(d, row) : NULL;
    if (!v || !type->item)
        return v;
    struct value *list = value_list(d->a, NOWHERE);
    for (int64_t n = 1 + draw(d, 2) * (1 + draw(d, 2)); v && n > 0; n--, v = draw_number(d, row))
        value_append(d->a, list, v);
    return list;
}

/* Adds one in `rare` of the rows that the map does not have. */
static void draw_rows(struct draws *d, struct value *map, const peat_param *row, int64_t rare)
{
    for (; row && row->key; row++) {
        struct value *v = draw(d, rare) == 0 ? draw_value(d, row) : NULL;
        if (v && !value_get(map, row->key))
            put(d, map, row->key, v);
    }
}

struct value *settings_drawn(const struct checked *s, int64_t index)
{
    struct draws d = {
        .s = s, .a = s->arena, .stream = rng_stream((uint64_t)index, "check", "rows")};
    struct value *map = value_map(s->arena, NOWHERE);
    draw_rows(&d, map, s->plugin->desc->param, 2);
    return checked_settings(s, map);
}

/* ---- sections ---- */

/* Of sixteen cells three have long sequences to evaluate, two wide heads and long sequences to
 * train, and two many heads. */
static bool is_long(const struct draws *d)
{
    return d->index % 8 == 6 || d->index % 16 == 11;
}

static bool is_wide(const struct draws *d)
{
    return d->index % 8 == 2;
}

/* Cells with classes come in turn: of tokens, of patches, of both kinds of heads. */
static const char *const with_classes[][3] = {{"class", "tokens", "encoder"},
                                              {"class", "patches", "encoder"},
                                              {"both", "tokens", "encoder"},
                                              {"class", "patches", "encoder"}};

/* Draws that a task or the plugin refuses again and again are given up. */
static bool is_usual(const struct draws *d)
{
    return d->attempt < 12;
}

/* Two in sixteen are encoders of tokens with nothing beside the plugin. */
static bool is_plain(const struct draws *d)
{
    return d->index % 8 == 5 && is_usual(d);
}

/* Two in sixteen have positions on two axes where the plugin understands them. */
static bool is_grid(const struct draws *d)
{
    const peat_scheme *own = checked_scheme(d->s);
    return own && own->max_axes > 1 && d->index % 8 == 7 && is_usual(d);
}

/* Every other cell is a decoder of tokens, and one in four has classes; the others go through all
 * kinds of models, and are of two sequences where the plugin can act across these. */
static void put_kind(struct draws *d, struct value *model)
{
    static const char *const keys[] = {"head", "input", "arch"};
    const peat_scheme *own = checked_scheme(d->s);
    bool across = own && own->traits & PEAT_ACROSS && d->index % 4 == 1 && is_usual(d);
    bool decoder = is_usual(d) && (across || d->index % 2 == 0);
    /* From 11 downwards, the kinds that tasks make batches for differ most from cell to cell. */
    int64_t n = decoder ? 0 : 11 + 17 * (d->index / 2) + d->attempt / 6;
    for (int i = 0; i < 3; i++) {
        const peat_param *row = rows_find(model_rows, keys[i]);
        int64_t labels = names_count(row->labels);
        const char *label = row->labels[n % labels];
        if (d->index % 4 == 3 && is_usual(d))
            label = with_classes[d->index / 4 % 4][i];
        else if (is_plain(d))
            label = i < 2 ? "tokens" : "encoder";
        put(d, model, keys[i], text_of(d, label));
        n /= labels;
    }
    if (across)
        put(d, model, "arch", text_of(d, "seq2seq"));
}

/* Where a class token stands goes through all labels, and is left out where there is none. */
static void draw_labels(struct draws *d, struct value *model)
{
    const peat_param *place = rows_find(model_rows, "cls_position");
    bool classes = strcmp(value_get(model, "head")->text, "tokens") != 0 && draw(d, 4);
    put(d, model, "pool", text_of(d, classes ? "cls" : "mean"));
    put(d, model, "cls_position",
        text_of(d, place->labels[classes ? d->index / 4 % names_count(place->labels) : 0]));
    if (d->index % 8 == 4 || draw(d, 6) == 0)
        put(d, model, "window", whole(d, 2 + draw(d, 8)));
}

/* Sizes for which the bounds of the rows are too wide. */
static struct value *draw_model(struct draws *d)
{
    static const int64_t heads[] = {1, 2, 2, 2, 3, 4, 4, 6, 8, 9, 12},
                         layers[] = {1, 2, 2, 2, 3, 5};
    static const int64_t widths[] = {2, 3, 4, 4, 4, 6, 8, 8, 10, 12, 16, 32};
    struct value *model = value_map(d->a, NOWHERE);
    int64_t H = DRAW_FROM(d, heads), C = DRAW_FROM(d, widths);
    H = is_wide(d) ? 1 + H % 2 : d->index % 8 == 4 ? 7 + H % 6 : H;
    C = is_wide(d) ? 16 << C % 3 : d->index % 8 == 4 && C > 8 ? 8 : C;
    while (H * C < 8)
        C *= 2;
    while (H * C > (is_long(d) ? 32 : is_wide(d) ? 128 : d->index % 8 == 4 ? 96 : 48))
        H = (H + 1) / 2;
    put_kind(d, model);
    put(d, model, "d_model", whole(d, H * C));
    put(d, model, "n_head", whole(d, H));
    put(d, model, "n_layer", whole(d, is_wide(d) ? 1 : is_long(d) ? 2 : DRAW_FROM(d, layers)));
    put(d, model, "encoder_layers", whole(d, 1 + draw(d, 2)));
    put(d, model, "d_ff", whole(d, 4 + draw(d, 16)));
    draw_labels(d, model);
    draw_rows(d, model, model_rows, 5);
    if (draw(d, 4) == 0) {
        struct value *attention = value_map(d->a, NOWHERE);
        draw_rows(d, attention, attention_rows, 2);
        put(d, model, "attention", attention);
    }
    return model;
}

static int64_t size_of(const struct value *model, const char *key)
{
    return value_get(model, key)->integer;
}

/* "[a, b]", at least `apart` apart, both below n */
static struct value *draw_range(struct draws *d, int64_t n, int64_t apart)
{
    int64_t begin = draw(d, n - apart), end = begin + apart + draw(d, n - apart - begin);
    struct value *list = value_list(d->a, NOWHERE);
    value_append(d->a, list, whole(d, begin));
    value_append(d->a, list, whole(d, end));
    return list;
}

static void draw_where(struct draws *d, struct value *scheme, const peat_scheme *hooks,
                       const struct value *model)
{
    int64_t H = size_of(model, "n_head"), C = size_of(model, "d_model") / H;
    struct value *where = value_map(d->a, NOWHERE);
    if (draw(d, 6) == 0 || (d->index % 16 == 4 && d->attempt < 4))
        put(d, where, "heads", draw_range(d, H, 0));
    if (draw(d, 6) == 0 && C > 1)
        put(d, where, "dims", draw_range(d, C, 1));
    if (draw(d, 6) == 0)
        put(d, where, "layers", whole(d, draw(d, size_of(model, "n_layer"))));
    if (hooks->traits & PEAT_ACROSS && strcmp(value_get(model, "arch")->text, "seq2seq") == 0 &&
        draw(d, 4))
        put(d, where, "across", text_of(d, draw(d, 2) ? "true" : "only"));
    if (where->n)
        put(d, scheme, "where", where);
}

static struct value *draw_scheme(struct draws *d, struct value *scheme, const peat_scheme *hooks,
                                 const struct value *model)
{
    static const char *const sites[] = {"residual", "attn_q", "attn_k", "attn_qk", "attn_qkv"};
    draw_where(d, scheme, hooks, model);
    if (hooks->encode && draw(d, 5) == 0)
        put(d, scheme, "at", text_of(d, DRAW_FROM(d, sites)));
    if (draw(d, 4) == 0)
        put(d, scheme, "share", text_of(d, "layer"));
    return scheme;
}

static struct value *named(struct draws *d, const char *name)
{
    struct value *map = value_map(d->a, NOWHERE);
    put(d, map, "plugin", value_text(d->a, NOWHERE, name));
    return map;
}

/* A plugin of the kind, `stream`: with a stream; never the subject. Without an own softmax, which
 * shows what others do not: a number that a bias adds for all keys of a query. */
static const struct plugin *draw_plugin(struct draws *d, peat_kind kind, bool stream)
{
    const char *const *name;
    const struct plugin *plugin;
    int n = registry_names(d->s->registry, kind, &name);
    int64_t first = n ? draw(d, n) : 0;
    for (int i = 0; i < n; i++) {
        const char *one = name[(first + i) % n];
        if (registry_find(d->s->registry, kind, one, NOWHERE, &plugin, NULL) != PEAT_OK ||
            plugin->desc == d->s->plugin->desc)
            continue;
        const peat_scheme *scheme = plugin->desc->interface;
        if (kind != PEAT_SCHEME ||
            (!scheme_has(scheme, HOOK_SOFTMAX) && (!stream || scheme->encode)))
            return plugin;
    }
    return NULL;
}

/* Puts choice i of the labels and switches that are no defaults; false: there are fewer. */
static bool put_choice(struct draws *d, struct value *map, int64_t i)
{
    const peat_param *row = d->s->plugin->desc->param;
    for (; row && row->key; row++) {
        const char *const *labels = row->type == PEAT_ENUM ? row->labels : switches;
        bool chooses = row->type == PEAT_BOOL || row->type == PEAT_ENUM;
        for (int k = 0; chooses && !value_get(d->s->given, row->key) && labels[k]; k++)
            if (k != (int)row->preset && i-- == 0)
                put(d, map, row->key, text_of(d, labels[k]));
    }
    return i < 0;
}

/* The plugin with its settings: the defaults, each other label and switch in turn, then some of
 * all. */
static struct value *subject(struct draws *d)
{
    struct value *map =
        value_merge(d->a, named(d, d->s->plugin->path), checked_settings(d->s, NULL));
    if (d->index > 0 && !put_choice(d, map, d->index - 1) && d->index % 3 &&
        d->s->plugin->desc->kind != PEAT_TASK)
        draw_rows(d, map, d->s->plugin->desc->param, 2);
    return map;
}

static struct value *draw_position(struct draws *d, const struct value *model)
{
    static const int more[] = {0, 0, 0, 1, 1, 2};
    const peat_kind kind = d->s->plugin->desc->kind;
    const peat_scheme *own = checked_scheme(d->s);
    struct value *position = value_map(d->a, NOWHERE), *list = value_list(d->a, NOWHERE);
    bool apart = own && scheme_has(own, HOOK_SOFTMAX);
    int n = (apart || is_grid(d) || is_plain(d) ? 0 : DRAW_FROM(d, more)) + (kind != PEAT_SCHEME);
    bool twice = own && !apart && d->index == 8 && is_usual(d); /* beside itself */
    n = twice && n == 0 ? 1 : n;
    int at = kind == PEAT_SCHEME ? (int)draw(d, n + 1) : -1;
    for (int i = 0; i < n + (own != NULL); i++) {
        const struct plugin *other =
            i == at || twice ? NULL : draw_plugin(d, PEAT_SCHEME, kind == PEAT_COMBINE);
        if (i == at || twice)
            value_append(d->a, list, draw_scheme(d, subject(d), own, model));
        else if (other)
            value_append(d->a, list,
                         draw_scheme(d, named(d, other->name), other->desc->interface, model));
    }
    const struct plugin *combine =
        is_plain(d) || draw(d, 2) ? NULL : draw_plugin(d, PEAT_COMBINE, false);
    put(d, position, "scheme", kind == PEAT_TASK ? text_of(d, "none") : list);
    put(d, position, "combine",
        kind == PEAT_COMBINE ? subject(d)
                             : value_text(d->a, NOWHERE, combine ? combine->name : "sum"));
    return position;
}

static void draw_lengths(struct draws *d, struct value *train, struct value *eval)
{
    static const int64_t rows[] = {1, 2, 2, 3, 3, 8}, far[] = {80, 133, 200, 300, 400};
    static const int64_t lengths[] = {3, 4, 5, 6, 6, 7, 8, 9, 11, 13, 16, 17, 24, 32, 40, 64};
    int64_t T =
        (is_wide(d) ? 64 : DRAW_FROM(d, lengths)) + (d->s->plugin->desc->kind == PEAT_TASK ? 16
                                                     : d->index % 2                        ? 6
                                                                                           : 0);
    put(d, train, "batch",
        whole(d, is_long(d) || is_wide(d) ? 1 + draw(d, 2)
                 : d->index % 8 == 0      ? 8
                 : T > 32                 ? 2
                                          : DRAW_FROM(d, rows)));
    put(d, train, "seq_len", whole(d, T));
    put(d, train, "steps", whole(d, 1));
    put(d, eval, "tokens", whole(d, 400));
    struct value *list = value_list(d->a, NOWHERE);
    value_append(d->a, list, whole(d, is_long(d) ? DRAW_FROM(d, far) : DRAW_FROM(d, lengths)));
    if (is_long(d) || draw(d, 3) == 0)
        put(d, eval, "lengths", list);
}

/* ---- a cell ---- */

static struct value *draw_cell(struct draws *d)
{
    struct value *root = value_map(d->a, NOWHERE), *all = value_map(d->a, NOWHERE);
    struct value *train = value_map(d->a, NOWHERE), *eval = value_map(d->a, NOWHERE);
    struct value *model = draw_model(d), *seeds = value_list(d->a, NOWHERE);
    draw_lengths(d, train, eval);
    put(d, all, "model", model);
    put(d, all, "position", draw_position(d, model));
    put(d, all, "train", train);
    put(d, all, "eval", eval);
    put(d, root, "version", whole(d, 1));
    put(d, root, "name", text_of(d, "cell"));
    put(d, root, "defaults", all);
    value_append(d->a, seeds, whole(d, draw(d, 1 << 20)));
    put(d, root, "seeds", seeds);
    return root;
}

/* The i-th task from the drawn one on, with a text of PEAT's where it needs a file. NULL: it needs
 * more. */
static struct value *task_of(struct draws *d, const char *name)
{
    const struct plugin *plugin;
    struct value *map = named(d, name);
    if (registry_find(d->s->registry, PEAT_TASK, name, NOWHERE, &plugin, NULL) != PEAT_OK)
        return NULL;
    const peat_task *task = plugin->desc->interface;
    for (const peat_param *row = plugin->desc->param; row && row->key; row++)
        if (row->flags & PEAT_REQUIRED && (!(row->flags & PEAT_PATH) || task->sample))
            return NULL;
        else if (row->flags & PEAT_REQUIRED)
            put(d, map, row->key,
                value_text(d->a, NOWHERE,
                           path_in(installed_dir(d->a, PEAT_INCLUDEDIR), "peat/ops.h").text));
    return map;
}

enum acceptance { ACCEPTED, REFUSED, TASK_REFUSED };

/* Whether each parameter of the plugin that can be a small id is one of the vocabulary. */
static bool has_ids(const struct rig *r)
{
    const peat_param *row = r->subject->plugin->desc->param;
    bool all = true;
    for (; row && row->key; row++)
        all = all && (row->type != PEAT_INT || row->preset < 0 || row->preset > 255 ||
                      rig_named(r, row) >= 0);
    return all;
}

/* Whether the engine and the plugins accept the model, as far as shapes show it. Few cells have one
 * place alone, as a decoder of short answers has, and some have all ids that the plugin names. */
static enum acceptance accepts(struct draws *d, const struct value *root, struct error *err)
{
    enum { MOST_FLOPS = 12000000 }; /* of a pass, so that a check takes seconds */
    const struct rig_plan plan = {.dtype = PEAT_F32, .shape_only = true};
    const struct checked *s = d->s;
    struct check_outcome o = {CHECK_PASSED};
    struct check_cell cell = {.file = "cell"};
    bool dropped;
    if (cell_config_read(&cell.config, value_get(root, "defaults"), 0, s->registry, s->files, d->a,
                         &dropped, err->status == PEAT_OK ? err : NULL) != PEAT_OK)
        return REFUSED;
    if (s->plugin->desc->kind == PEAT_COMBINE && !cell.config.has_combine)
        return REFUSED;
    struct rig *r = rig_open(s, &cell, &plan, &o);
    bool task = r->s.positional.host; /* set up: schemes come after it */
    bool ok = r->status == PEAT_OK;
    for (int phase = PEAT_TRAIN; ok && phase <= PEAT_EVAL; phase++) {
        struct rig_input x = rig_input(r, (peat_phase)phase);
        task = ok = x.b.B > 0 && (x.b.T > 1 || d->index % 16 == 9 || !is_usual(d)) &&
                    ((d->index % 8 != 6 && d->index % 16 != 8) || has_ids(r) || !is_usual(d));
        if (ok)
            rig_logits(r, &x.in);
        ok = ok && !r->given_up && r->flops < MOST_FLOPS;
    }
    const struct part *failing = r->s.positional.failing;
    bool own = r->given_up || (failing && rig_owns(r, failing)) ||
               (s->plugin->desc->kind == PEAT_TASK && r->status == PEAT_OK);
    if (!ok && (own || err->status == PEAT_OK))
        *err = r->err;
    rig_close(r);
    return ok ? ACCEPTED : task ? REFUSED : TASK_REFUSED;
}

static const char *text_of_cell(struct draws *d, struct value *root)
{
    struct strbuf out = STRBUF_NEW;
    settings_add(&out, root, 0, d->a);
    return strbuf_keep(&out, d->a);
}

/* Whether the cell is accepted with a task: the first, from a drawn one on. */
static bool with_task(struct draws *d, struct value *root, struct error *err)
{
    const char *const *name;
    bool own = d->s->plugin->desc->kind == PEAT_TASK;
    int n = own ? 1 : registry_names(d->s->registry, PEAT_TASK, &name);
    int64_t first = n ? draw(d, n) : 0;
    enum acceptance end = TASK_REFUSED;
    for (int i = 0; i < n && end == TASK_REFUSED; i++) {
        struct value *task = own ? subject(d) : task_of(d, name[(first + i) % n]);
        if (!task)
            continue;
        put(d, value_get(root, "defaults"), "task", task);
        const char *text = text_of_cell(d, root);
        if (file_write(d->file, text, strlen(text), err) != PEAT_OK)
            return false;
        end = accepts(d, root, err);
    }
    return end == ACCEPTED;
}

bool cell_drawn(const struct checked *s, uint64_t seed, int64_t index, const char *file,
                struct error *err)
{
    enum { ATTEMPTS = 120 };
    bool accepted = false;
    for (int64_t i = 0; i < ATTEMPTS && !accepted; i++) {
        uint64_t stream = rng_substream(rng_stream(seed, "check", "cells"), (uint64_t)index);
        struct draws d = {s, s->arena, rng_substream(stream, (uint64_t)i), 0, index, i, file};
        accepted = with_task(&d, draw_cell(&d), err);
    }
    if (!accepted)
        unlink(file);
    return accepted;
}
