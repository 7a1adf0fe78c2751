/* SPDX-License-Identifier: MIT */
/* scheme_table.c: runs one scheme without a model around it. */
#include "inspect/scheme_table.h"

#include "nn/differences.h"
#include "nn/setup.h"
#include "plugin/params.h"
#include "plugin/registry.h"
#include "scheme_model.h"

enum { SEES_CONTENT = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_PROJECT | PEAT_NEED_TOKENS };

struct view {
    const struct scheme_request *request;
    const struct plugin *plugin;
    const peat_scheme *hooks;
    struct registry registry;
    struct positional positional;
    struct weights weights;
    peat_dims dims;
    struct graph graph;
    struct pass pass;
    struct arena *a;
    struct error *err; /* never NULL; steps return whether they succeeded */
};

static struct scheme_part *part_of(struct view *v)
{
    return &v->positional.scheme[0];
}

/* ---- set-up ---- */

static bool fill_config(struct view *v, void **config)
{
    const peat_plugin *desc = v->plugin->desc;
    *config = arena_zalloc(v->a, desc->config_size + 1);
    return params_fill(desc->param, *config, v->request->given,
                       arena_printf(v->a, "scheme '%s'", v->plugin->name), NULL, v->a,
                       v->err) == PEAT_OK;
}

static bool find_plugin(struct view *v)
{
    const struct scheme_request *q = v->request;
    bool found =
        registry_init(&v->registry, v->a, q->trail, v->err) == PEAT_OK &&
        registry_find(&v->registry, PEAT_SCHEME, q->scheme, NOWHERE, &v->plugin, v->err) == PEAT_OK;
    v->hooks = found ? v->plugin->desc->interface : NULL;
    return found;
}

static bool check_sizes(struct view *v, const void *config)
{
    const struct scheme_request *q = v->request;
    int64_t width = v->hooks->encode && v->hooks->width ? v->hooks->width(config) : 0;
    if (q->d % q->heads != 0)
        return error_fail(v->err, PEAT_INVALID, "a width of %lld does not split into %lld heads",
                          (long long)q->d, (long long)q->heads);
    return width <= 0 || width == q->d ||
           error_fail(v->err, PEAT_INVALID, "scheme '%s' is %lld wide, not %lld", v->plugin->name,
                      (long long)width, (long long)q->d);
}

/* The model around the scheme has one layer of the requested size. */
static void fill_positional(struct view *v, const void *config)
{
    const struct scheme_request *q = v->request;
    const char *id = v->plugin->desc->id;
    v->dims = (peat_dims){.size = sizeof(v->dims),
                          .D = q->d,
                          .H = q->heads,
                          .C = q->d / q->heads,
                          .L = 1,
                          .V = 1,
                          .d = v->hooks->encode ? q->d : 0,
                          .T_train = q->T,
                          .T_max = q->T,
                          .n_axes = 1,
                          .causal = true};
    v->positional = (struct positional){.host = host_table(), .n_scheme = 1, .D = q->d};
    struct scheme_part *s = part_of(v);
    s->part = (struct part){
        .id = id, .prefix = arena_printf(v->a, "position.0.%s", id), .config = config};
    s->hooks = v->hooks;
    s->d = v->dims.d;
}

static bool run_setup(struct view *v)
{
    struct trail *trail = v->request->trail;
    struct scheme_part *s = part_of(v);
    struct setup setup;
    peat_status status = PEAT_OK;
    weights_init(&v->weights, v->a, PEAT_F32);
    setup_init(&setup, host_table(), v->a, &v->weights, &s->part, &v->dims, v->err);
    setup.where = &s->where;
    trail_forget_plugins(trail);
    trail_plugin(trail, s->part.id, v->plugin->path, "");
    hook_enter(trail, s->part.id, HOOK_SETUP);
    if (v->hooks->setup)
        status = v->hooks->setup(&setup.base, s->part.config, &s->part.self);
    trail_leave(trail);
    return setup_end(&setup, status) == PEAT_OK &&
           weights_build(&v->weights, 0, false, v->err) == PEAT_OK;
}

static bool set_up_scheme(struct view *v)
{
    void *config;
    if (!fill_config(v, &config) || !check_sizes(v, config))
        return false;
    fill_positional(v, config);
    return run_setup(v);
}

static bool begin_pass(struct view *v)
{
    int64_t T = v->request->T;
    double *pos = ARENA_ARRAY(v->a, T, double);
    for (int64_t i = 0; i < T; i++)
        pos[i] = (double)i;
    peat_side side = {
        .size = sizeof(side), .T = T, .T_total = T, .pos_B = 1, .n_axes = 1, .pos = pos};
    graph_init(&v->graph, v->a, v->request->team, PEAT_F32);
    v->graph.no_grad = true;
    v->graph.trail = v->request->trail;
    v->pass = (struct pass){.g = &v->graph,
                            .positional = &v->positional,
                            .dims = v->dims,
                            .phase = PEAT_EVAL,
                            .B = 1,
                            .model_arena = v->a,
                            .span.rows = side,
                            .collect = true};
    weights_begin(&v->weights);
    struct call c;
    call_init(&c, &v->pass, 0, -1);
    if (v->hooks->positions) {
        hook_begin(&c, HOOK_POSITIONS);
        hook_status(&v->pass, v->hooks->positions(&c.base, pos));
    }
    if (!graph_failed(&v->graph) && pass_own_positions(&v->pass, 0))
        call_init(&c, &v->pass, 0, -1);
    if (v->hooks->prepare && !graph_failed(&v->graph)) {
        hook_begin(&c, HOOK_PREPARE);
        hook_status(&v->pass, v->hooks->prepare(&c.base, v->pass.shared[0]));
    }
    return !graph_failed(&v->graph);
}

struct scheme_table scheme_table_try(const char *what, int64_t heads, int64_t rows, int64_t columns,
                                     const struct tensor *x, struct arena *a)
{
    struct scheme_table t = {.what = what, .heads = heads, .rows = rows, .columns = columns};
    t.value = ARENA_TRY_ARRAY(a, scheme_table_values(&t), float);
    for (int64_t i = 0; t.value && i < scheme_table_values(&t); i++)
        t.value[i] = (float)tensor_get(x, i);
    return t;
}

/* Makes a table with a row for each position from the last two axes; the others are heads. */
static struct scheme_table copy_table(struct view *v, const char *what, const struct tensor *x)
{
    int64_t T = v->request->T, columns = x->dim[x->rank - 1];
    int64_t heads = tensor_count(x) / (T * columns);
    return scheme_table_try(what, heads > 1 ? heads : 0, T, columns, x, v->a);
}

static void table_of_stream(struct view *v, struct scheme_table *t)
{
    struct call c;
    const int64_t dim[] = {1, v->request->T, v->request->d};
    call_init(&c, &v->pass, 0, -1);
    hook_begin(&c, HOOK_ENCODE);
    peat_node *x = hook_end(&v->pass, v->hooks->encode(&c.base), 3, dim, 0);
    if (x)
        *t = copy_table(v, "stream", &x->value);
}

/* ---- bias ---- */

/* bias_rel's values at j - i + T - 1, or spread over all pairs where positions are not consecutive;
 * *rel and *bias may stay NULL. */
static void run_bias(struct view *v, peat_node **rel, peat_node **bias)
{
    enum { ANY = 15 };
    struct pass *pass = &v->pass;
    const struct scheme_part *s = part_of(v);
    int64_t H = v->dims.H, T = v->request->T;
    struct call c;
    call_init(&c, pass, 0, s->part.per_layer ? 0 : -1);
    *rel = *bias = NULL;
    if (v->hooks->bias) {
        hook_begin(&c, HOOK_BIAS);
        *bias = hook_end(pass, v->hooks->bias(&c.base, NULL), 4, (int64_t[]){1, H, T, T}, ANY);
    }
    const struct differences *d = v->hooks->bias_rel ? pass_differences(pass, &c.base) : NULL;
    if (!d)
        return;
    hook_begin(&c, HOOK_BIAS_REL);
    *rel = hook_end(pass, v->hooks->bias_rel(&c.base, &d->rel), 2, (int64_t[]){H, d->rel.n}, 1);
    if (*rel && !d->toeplitz) {
        peat_node *all = differences_spread(pass, d, *rel);
        *bias = *bias ? peat_add(&v->graph.base, *bias, all) : all;
        *rel = NULL;
    }
}

static void table_of_bias(struct view *v, struct scheme_table *t)
{
    const int64_t H = v->dims.H, T = v->request->T, dim[] = {1, H, T, T};
    peat_node *rel, *bias;
    struct tensor wide;
    run_bias(v, &rel, &bias);
    *t = (struct scheme_table){"bias", H, T, T, NULL};
    if (graph_failed(&v->graph))
        return;
    if (bias)
        wide = tensor_broadcast_to(&bias->value, 4, dim);
    t->value = ARENA_TRY_ARRAY(v->a, H * T * T, float);
    for (int64_t n = 0; t->value && n < H * T * T; n++) {
        int64_t row = rel && rel->value.dim[0] > 1 ? n / (T * T) : 0, i = n / T % T, j = n % T;
        double sum = bias ? tensor_get(&wide, n) : 0.0;
        if (rel)
            sum += tensor_get(&rel->value, row * (2 * T - 1) + j - i + T - 1);
        t->value[n] = (float)sum;
    }
}

/* ---- probes ---- */

/* Nodes that prepare did not name may come from qkv, which runs on queries and keys of zeros. */
static void run_qkv(struct view *v)
{
    struct pass *pass = &v->pass;
    struct call c;
    const int64_t dim[] = {1, v->dims.H, v->request->T, v->dims.C};
    peat_node *zero = graph_constant(&v->graph, PEAT_F32, 4, dim, NULL);
    if (!zero)
        return;
    tensor_fill(&zero->value, 0.0);
    peat_qkv io = {.size = sizeof(io), .q = zero, .k = zero, .v = zero};
    call_init(&c, pass, 0, 0);
    hook_begin(&c, HOOK_QKV);
    hook_status(pass, v->hooks->qkv(&c.base, &io));
}

static const peat_node *find_probe(const struct view *v)
{
    for (int i = 0; i < v->pass.n_probe; i++) {
        const struct tensor *x = &v->pass.probe[i].node->value;
        if (x->rank >= 2 && x->dim[x->rank - 2] == v->request->T)
            return v->pass.probe[i].node;
    }
    return NULL;
}

static bool model_table(struct view *v, struct scheme_table *t)
{
    struct scheme_request request = *v->request;
    request.rows = request.rows ? request.rows : 1;
    return scheme_model_table(t, &request, &v->registry, v->plugin, v->a, v->err);
}

static bool table_of_probe(struct view *v, struct scheme_table *t)
{
    const peat_node *probe = find_probe(v);
    if (!probe && v->hooks->qkv && !(v->hooks->needs & SEES_CONTENT)) {
        run_qkv(v);
        probe = find_probe(v);
    }
    if (graph_failed(&v->graph))
        return true;
    if (!probe && !v->request->alone)
        return model_table(v, t);
    if (!probe)
        return error_fail(v->err, PEAT_REFUSED,
                          "scheme '%s' has no table that depends only on positions",
                          v->plugin->name);
    *t = copy_table(v, probe->name, &probe->value);
    return true;
}

static bool make_table(struct view *v, struct scheme_table *t)
{
    if (!begin_pass(v))
        return true;
    if (v->hooks->encode && !(v->hooks->needs & PEAT_NEED_TOKENS))
        table_of_stream(v, t);
    else if ((v->hooks->bias || v->hooks->bias_rel) && !(v->hooks->needs & SEES_CONTENT))
        table_of_bias(v, t);
    else
        return table_of_probe(v, t);
    return true;
}

/* True where positions by themselves do not determine the requested table. */
static bool takes_tokens(const struct view *v)
{
    const struct scheme_request *q = v->request;
    bool asked = q->n_token || q->rows > 1 || q->pad || q->train || q->combine || q->what;
    return asked || (v->hooks->needs & (v->hooks->encode ? PEAT_NEED_TOKENS : SEES_CONTENT));
}

peat_status scheme_table_make(struct scheme_table *t, const struct scheme_request *q,
                              struct arena *a, struct error *err)
{
    struct view *v = ARENA_NEW(a, struct view);
    struct error why = {0};
    v->request = q;
    v->a = a;
    v->err = &why;
    bool ok =
        find_plugin(v) &&
        (!q->alone && takes_tokens(v) ? model_table(v, t) : set_up_scheme(v) && make_table(v, t));
    if (ok && graph_failed(&v->graph))
        why = v->graph.err;
    else if (ok && !t->value)
        error_set(&why, PEAT_NOMEM, "out of memory for scheme '%s'", q->scheme);
    return why.status == PEAT_OK ? PEAT_OK : error_set(err, why.status, "%s", why.text);
}
