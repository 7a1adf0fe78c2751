/* SPDX-License-Identifier: MIT */
/*
 * pythonplugin.c: a scheme or combination that is Python alone, as a plugin. Its parameters,
 * tensors and hooks are those that the file declares. PyTorch computes the hooks (run.engine:
 * torch). The hooks here stand at the same places, use the same inputs and tensors, and change
 * nothing, so that a plan knows where the plugin acts, the path of attention, and the tensors that
 * get a gradient.
 */
#include "autograd/graph.h"
#include "nn/hooks.h"
#include "nn/setup.h"
#include "plugin/params.h"
#include "plugin/registry.h"
#include "process/python.h"

enum { FIELD_BYTES = 8 };

/* What declared.py has answered to set-ups so far. */
struct answer {
    const char *question;
    struct value *v;
    struct answer *next;
};

struct answers {
    struct arena *arena; /* the plugin's */
    struct answer *first;
};

struct python_plugin {
    struct plugin plugin;
    peat_plugin desc;
    peat_scheme scheme;
    peat_combine combine;
    const struct value *hooks; /* map: hook -> the names that its function asks for */
    bool has_widths;           /* a combination says how wide its streams are       */
    bool multiplies;           /* its hooks may have products, which FLOPs count    */
    struct answers *answers;
};

/* What set-up keeps. */
struct idea {
    const struct python_plugin *plugin;
    const struct value *tensors;
    const bool *per_layer; /* [tensors] */
    int64_t heads;
    const struct value *flops; /* map: hook -> coefficients (flops.py); NULL: none has any */
};

/* What declared.py answers, or flops.py where `what` is NULL, in the arena; NULL: an error. */
static struct value *ask(const char *what, const char *path, const char *more, struct arena *a,
                         struct error *err)
{
    const char *const word[] = {what, path, more};
    const int first = what ? 0 : 1;
    const char *answer;
    peat_status status =
        python_ask(what ? "declared.py" : "flops.py", word + first, (more ? 3 : 2) - first,
                   "a plugin that is Python alone", a, &answer, err);
    return status == PEAT_OK ? json_parse(a, answer, strlen(answer), path, err) : NULL;
}

/* ---- set-up ---- */

static const struct python_plugin *plugin_of(const struct setup *s)
{
    return (const void *)((const char *)s->part->plugin - offsetof(struct python_plugin, plugin));
}

/* The sizes and parameters that the functions `tensors` and `widths` may name. */
static struct json sizes_of(const struct setup *s)
{
    const peat_dims *d = &s->base.dims;
    struct json all = {s->arena, params_value(plugin_of(s)->desc.param, s->part->config, s->arena)};
    const struct {
        const char *name;
        int64_t n;
    } size[] = {{"D", d->D}, {"H", s->heads},         {"C", d->C},        {"L", d->L}, {"d", d->d},
                {"V", d->V}, {"T_train", d->T_train}, {"T_max", d->T_max}};
    for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
        json_put_int(all, size[i].name, size[i].n);
    return all;
}

static struct value *ask_setup(struct setup *s, const char *what, struct json sizes)
{
    struct answers *all = plugin_of(s)->answers;
    const char *given = json_to_text(sizes.v, JSON_DENSE, s->arena);
    const char *question = arena_printf(all->arena, "%s %s", what ? what : "flops", given);
    for (struct answer *known = all->first; known; known = known->next)
        if (!strcmp(known->question, question))
            return known->v;
    struct value *v = ask(what, plugin_of(s)->plugin.path, given, all->arena, s->err);
    if (!v) {
        s->status = s->err->status;
        return NULL;
    }
    struct answer *made = ARENA_NEW(all->arena, struct answer);
    *made = (struct answer){question, v, all->first};
    all->first = made;
    return v;
}

/* Whether the tensor has a copy for each layer. */
static bool declare(struct setup *s, const struct value *one)
{
    static const peat_scope scope[] = {PEAT_ONCE, PEAT_PER_LAYER, PEAT_PER_USER};
    const struct value *shape = value_get(one, "shape");
    int64_t dim[PEAT_MAX_RANK];
    int rank = 0;
    for (; rank < shape->n && rank < PEAT_MAX_RANK; rank++)
        dim[rank] = shape->item[rank]->integer < 0 ? PEAT_HEADS : shape->item[rank]->integer;
    double mean = json_get_number(one, "mean"), std = json_get_number(one, "std");
    peat_init init = {std > 0 ? PEAT_INIT_NORMAL : PEAT_INIT_CONSTANT, mean, std, NULL};
    int handle = peat_param_new(&s->base, json_get_text(one, "name"), rank, dim, init,
                                scope[json_get_int(one, "scope", 2)], 0);
    return handle >= 0 && s->part->weight[handle].scope == PEAT_PER_LAYER;
}

static peat_status declare_all(struct setup *s, struct json sizes, void **self)
{
    struct idea *idea = ARENA_NEW(s->arena, struct idea);
    const struct value *list = ask_setup(s, "tensors", sizes);
    bool *per_layer = ARENA_ARRAY(s->arena, list ? list->n + 1 : 1, bool);
    for (int i = 0; list && i < list->n; i++)
        per_layer[i] = declare(s, list->item[i]);
    const struct value *flops = list && plugin_of(s)->multiplies ? ask_setup(s, NULL, sizes) : NULL;
    *idea = (struct idea){plugin_of(s), list, per_layer, s->heads, flops};
    *self = idea;
    return s->status;
}

static peat_status setup(peat_setup *base, const void *config, void **self)
{
    (void)config;
    struct setup *s = (struct setup *)base;
    return declare_all(s, sizes_of(s), self);
}

static peat_status setup_combine(peat_setup *base, const void *config, int32_t n,
                                 const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)config;
    struct setup *s = (struct setup *)base;
    struct json sizes = sizes_of(s), names = json_put_list(sizes, "streams");
    for (int i = 0; i < n; i++)
        json_add_text(names, stream[i]);
    const struct value *made =
        plugin_of(s)->has_widths ? ask_setup(s, "widths", sizes) : json_map(s->arena).v;
    if (!made)
        return s->status;
    *D = json_get_int(made, "D", *D);
    struct json widths = json_put_list(sizes, "widths");
    double *chosen = ARENA_ARRAY(s->arena, n, double);
    for (int i = 0; i < n; i++) {
        const struct value *given = json_get_item(made, "width", i);
        const int64_t is = width[i], wanted = given ? given->integer : *D;
        if (is && is != wanted)
            return peat_refuse(base, "'%s' is always %lld wide, and the combination makes it %lld",
                               stream[i], (long long)is, (long long)wanted);
        json_add_int(widths, width[i] = wanted);
        chosen[i] = (double)wanted;
    }
    if (plugin_of(s)->has_widths)
        peat_resolved_list(base, "widths", (peat_reals){n, chosen});
    json_put_int(sizes, "D", *D);
    return declare_all(s, sizes, self);
}

/* ---- hooks, which leave everything as it is ---- */

/* Whether the function of the hook asks for a name. */
static bool names(const peat_call *c, const char *hook, const char *name)
{
    const struct idea *idea = c->self;
    const struct value *list = value_get(idea->plugin->hooks, hook);
    bool found = false;
    for (int i = 0; list && i < list->n && !found; i++)
        found = !strcmp(list->item[i]->text, name);
    return found;
}

/* 0 times the sum of x, [1] */
static peat_node *nothing_of(const peat_call *c, peat_node *x)
{
    peat_shape shape = peat_shape_of(c->g, x);
    int64_t count = 1;
    for (int k = 0; k < shape.rank; k++)
        count *= shape.dim[k];
    return peat_scale(c->g, peat_sum(c->g, peat_reshape(c->g, x, 1, &count), 0), 0);
}

/* Fails where values are computed: these hooks change nothing, so no result may come from them. */
static peat_status only_shapes(const peat_call *c)
{
    const struct idea *idea = c->self;
    struct graph *g = (struct graph *)c->g;
    if (!g->shape_only)
        graph_fail(
            g,
            "'%s' is Python alone, which PyTorch computes: for numbers of this program write "
            "its twin in C, which 'peat plugins new --from %s' begins",
            idea->plugin->plugin.path, idea->plugin->plugin.path);
    return g->shape_only ? PEAT_OK : PEAT_INVALID;
}

/* Counts the operations of the hook in this call. */
static void count_flops(const peat_call *c, const char *hook)
{
    const struct idea *idea = c->self;
    const struct value *of = idea->flops ? value_get(idea->flops, hook) : NULL;
    const double T = (double)c->q->T, square = T * (double)c->k->T, B = (double)c->B;
    double n[6] = {0};
    for (int i = 0; of && i < of->n && i < 6; i++)
        n[i] = value_number(of->item[i]);
    double sum = n[0] + n[1] * T + n[2] * square + B * (n[3] + n[4] * T + n[5] * square);
    ((struct graph *)c->g)->flops += llround(sum * (double)c->H / (double)idea->heads);
}

/* x itself, made to depend on each tensor that the hook uses (`weights`: all), and on the state, by
 * which it depends on tensors of other hooks: plans ask which tensors reach the loss. */
static peat_node *with_tensors(const peat_call *c, const char *hook, peat_node *x)
{
    const struct idea *idea = c->self;
    const bool all = names(c, hook, "weights");
    count_flops(c, hook);
    if (only_shapes(c) != PEAT_OK)
        return NULL;
    for (int i = 0; i < idea->tensors->n; i++) {
        const char *name = json_get_text(idea->tensors->item[i], "argument");
        if ((all || names(c, hook, name)) && (c->layer >= 0 || !idea->per_layer[i]))
            x = peat_add(c->g, x, nothing_of(c, peat_use(c, i)));
    }
    if (names(c, hook, "state") && c->shared && c->shared[0])
        x = peat_add(c->g, x, c->shared[0]);
    return x;
}

static peat_node *zeros(const peat_call *c, const char *hook, int rank, const int64_t *dim)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= dim[i];
    double *zero = peat_scratch(c, n);
    if (zero)
        memset(zero, 0, (size_t)n * sizeof(*zero));
    return with_tensors(c, hook, peat_fill(c, rank, dim, zero));
}

static peat_status leave_positions(const peat_call *c, double *pos)
{
    (void)pos;
    return only_shapes(c);
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    shared[0] = zeros(c, "prepare", 1, (int64_t[]){1});
    return PEAT_OK;
}

static peat_node *encode(const peat_call *c)
{
    return zeros(c, "encode", 3, (int64_t[]){1, c->q->T, c->d});
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return with_tensors(c, "residual", x);
}

static peat_status hidden(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv)
{
    (void)xk;
    (void)xv;
    *xq = with_tensors(c, "hidden", *xq);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->q = with_tensors(c, "qkv", io->q);
    return PEAT_OK;
}

static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    return zeros(c, "bias_rel", 2, (int64_t[]){1, r->n});
}

static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return zeros(c, "bias", 4, (int64_t[]){1, 1, 1, 1});
}

static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return zeros(c, "score_add", 4, (int64_t[]){1, 1, 1, 1});
}

static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    (void)p;
    return with_tensors(c, "logits", bias ? peat_add(c->g, S, bias) : S);
}

static peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    (void)p;
    S = with_tensors(c, "softmax", bias ? peat_add(c->g, S, bias) : S);
    return peat_softmax(c->g, S, c->mask);
}

static peat_node *weights(const peat_call *c, peat_node *W)
{
    return with_tensors(c, "weights", W);
}

static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    (void)p;
    (void)W;
    return with_tensors(c, "context", o);
}

static peat_status carry(const peat_call *c, peat_node *x, peat_node *W,
                         peat_node *state[PEAT_MAX_SHARED])
{
    (void)x;
    (void)W;
    state[0] = with_tensors(c, "carry", state[0]);
    return PEAT_OK;
}

static peat_node *merge_streams(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = zeros(c, "merge", 3, (int64_t[]){1, 1, c->dims.D});
    for (int i = 0; i < n; i++)
        y = peat_add(c->g, y, peat_sum(c->g, x[i], -1));
    return y;
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

static void fill_interface(struct python_plugin *p, const struct value *declared)
{
    static const char *const scales[] = {"sqrt", "one", "own"};
    const struct value *has = p->hooks = value_get(declared, "hooks");
    const int scale = name_index(scales, 3, json_text_or(declared, "scale", "sqrt"));
    peat_scheme *s = &p->scheme;
    p->has_widths = json_get_bool(declared, "widths");
    p->multiplies = json_get_bool(declared, "multiplies");
    p->combine = (peat_combine){.size = sizeof(p->combine),
                                .min_streams = (int)json_get_int(declared, "min_streams", 2),
                                .max_streams = (int)json_get_int(declared, "max_streams", 0),
                                .setup = setup_combine,
                                .merge = merge_streams};
    *s = (peat_scheme){.size = sizeof(*s),
                       .needs = (uint32_t)json_get_int(declared, "needs", 0),
                       .traits = json_get_bool(declared, "across") ? PEAT_ACROSS : 0,
                       .max_axes = (int)json_get_int(declared, "max_axes", 1),
                       .own_axes = (int)json_get_int(declared, "own_axes", 0),
                       .score_terms = (int)json_get_int(declared, "score_terms", 0),
                       .scale = (peat_score_scale)scale,
                       .setup = setup};
#define TAKE(hook, function) s->hook = value_get(has, #hook) ? (function) : NULL
    TAKE(positions, leave_positions);
    TAKE(own_positions, leave_positions);
    TAKE(prepare, prepare);
    TAKE(encode, encode);
    TAKE(residual, residual);
    TAKE(hidden, hidden);
    TAKE(qkv, qkv);
    TAKE(bias_rel, bias_rel);
    TAKE(bias, bias);
    TAKE(score_add, score_add);
    TAKE(logits, logits);
    TAKE(softmax, softmax);
    TAKE(weights, weights);
    TAKE(context, context);
    TAKE(carry, carry);
#undef TAKE
    p->desc.kind = json_text_is(declared, "kind", "combine") ? PEAT_COMBINE : PEAT_SCHEME;
    p->desc.interface = p->desc.kind == PEAT_COMBINE ? (const void *)&p->combine : s;
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
        .plugin = {.name = arena_printf(a, "%.*s", (int)(strlen(name) - strlen(".py")), name),
                   .path = arena_strdup(a, real)},
        .desc = {.magic = PEAT_MAGIC,
                 .size = sizeof(p->desc),
                 .abi_major = PEAT_ABI_MAJOR,
                 .version = "0",
                 .licence = "-",
                 .citation = ""},
        .answers = ARENA_NEW(a, struct answers)};
    p->answers->arena = a;
    free(real);
    p->desc.id = p->plugin.name;
    const struct value *declared = ask("plugin", p->plugin.path, NULL, a, &why);
    if (!declared)
        return error_copy(err, &why);
    fill_interface(p, declared);
    p->desc.summary = json_text_or(declared, "summary", "Python alone");
    if (fill_rows(p, value_get(declared, "rows"), a, &why) &&
        plugin_contract(a, &p->desc, &p->plugin.desc, p->plugin.path, &why) &&
        hash_file(p->plugin.path, p->plugin.sha256, &why) == PEAT_OK)
        *plugin = &p->plugin;
    return error_copy(err, &why);
}
