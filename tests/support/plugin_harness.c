/* SPDX-License-Identifier: MIT */
/* plugin_harness.c: setting one plugin up without a model around it. */
#include "support/plugin_harness.h"

#include "nn/setup.h"
#include "plugin/params.h"
#include "plugin/registry.h"
#include "support/products.h"
#include "support/support.h"

enum { GRADCHECK_INPUTS = 12 };

/* The library directory's name differs between systems. */
static const char *plugin_path(struct harness *h, peat_kind kind, const char *name)
{
    static const char *const lib[] = {"lib", "lib/x86_64-linux-gnu", "lib64",
                                      "lib/aarch64-linux-gnu"};
    const char *build = getenv("PEAT_BUILD");
    ck_assert_msg(build, "PEAT_BUILD is not set");
    for (size_t i = 0; i < sizeof(lib) / sizeof(*lib); i++) {
        const char *path = arena_printf(&h->arena, "%s/%s/peat/plugins-1/%s/%s.so", build, lib[i],
                                        kind_name(kind), name);
        if (file_exists(path))
            return path;
    }
    ck_abort_msg("there is no %s/%s.so below %s", kind_name(kind), name, build);
    return NULL;
}

static peat_status fill_config(struct harness *h, const char *json)
{
    struct value *given = NULL;
    h->config = arena_zalloc(&h->arena, h->desc->config_size + 1);
    if (json) {
        given = json_parse(&h->arena, json, strlen(json), "test", &h->err);
        ck_assert_msg(given, "%s", h->err.text);
    }
    if (!h->desc->param)
        return PEAT_OK;
    return params_fill(h->desc->param, h->config, given, h->desc->id, NULL, &h->arena, &h->err);
}

static peat_status harness_open(struct harness *h, peat_kind kind, const char *name,
                                const char *json)
{
    const struct plugin *plugin;
    *h = (struct harness){0};
    arena_init(&h->arena, "harness", 1 << 16);
    arena_init(&h->step, "step", 1 << 16);
    weights_init(&h->weights, &h->arena, PEAT_F64);
    peat_status status =
        plugin_load(&h->arena, plugin_path(h, kind, name), OBJECT_HASHED, &plugin, &h->err);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
    ck_assert_int_eq(plugin->desc->kind, kind);
    h->desc = plugin->desc;
    h->positional.host = host_table();
    return fill_config(h, json);
}

void harness_close(struct harness *h)
{
    arena_release(&h->step);
    arena_release(&h->arena);
}

static void set_dims(struct harness *h, const peat_dims *dims)
{
    h->dims = *dims;
    h->dims.size = sizeof(h->dims);
    h->dims.n_axes = dims->n_axes ? dims->n_axes : 1;
    h->dims.C = dims->D / dims->H;
}

/* Memory and initial values for what setup registered. */
static peat_status finish(struct harness *h, const struct setup *s, peat_status status)
{
    status = setup_end(s, status);
    if (status != PEAT_OK)
        return status;
    return weights_build(&h->weights, 1, false, &h->err);
}

peat_status harness_scheme(struct harness *h, const char *name, const char *json,
                           const peat_dims *dims)
{
    peat_status status = harness_open(h, PEAT_SCHEME, name, json);
    if (status != PEAT_OK)
        return status;
    set_dims(h, dims);
    h->scheme = h->desc->interface;
    h->positional.n_scheme = 1;
    struct scheme_part *part = &h->positional.scheme[0];
    part->part = (struct part){.id = name, .prefix = name, .config = h->config};
    part->hooks = h->scheme;
    part->d = dims->d;
    struct setup s;
    setup_init(&s, host_table(), &h->arena, &h->weights, &part->part, &h->dims, &h->err);
    s.where = &part->where;
    if (h->scheme->setup)
        status = h->scheme->setup(&s.base, h->config, &part->part.self);
    return finish(h, &s, status);
}

peat_status harness_combine(struct harness *h, const char *name, const char *json,
                            const peat_dims *dims, int32_t n, const char *const *stream,
                            int64_t *width)
{
    peat_status status = harness_open(h, PEAT_COMBINE, name, json);
    if (status != PEAT_OK)
        return status;
    set_dims(h, dims);
    h->combine = h->desc->interface;
    h->positional.combine = h->combine;
    h->positional.D = dims->D;
    struct part *part = &h->positional.combine_part;
    *part = (struct part){.id = name, .prefix = name, .config = h->config};
    struct setup s;
    setup_init(&s, host_table(), &h->arena, &h->weights, part, &h->dims, &h->err);
    status = h->combine->setup(&s.base, h->config, n, stream, width, &h->positional.D, &part->self);
    h->dims.D = h->positional.D;
    for (int32_t i = 0; i < n; i++)
        h->positional.width[i] = width[i];
    return finish(h, &s, status);
}

peat_status harness_task(struct harness *h, const char *name, const char *json,
                         const peat_task_plan *plan)
{
    peat_status status = harness_open(h, PEAT_TASK, name, json);
    if (status != PEAT_OK)
        return status;
    h->task.host = host_table();
    h->task.hooks = h->desc->interface;
    h->task.part = (struct part){.id = name, .prefix = name, .config = h->config};
    h->task.plan = *plan;
    return task_setup(&h->task, &h->arena, &h->err);
}

void harness_train(struct harness *h, uint64_t seed, int64_t step, struct batch *b)
{
    peat_status status = task_train_batch(&h->task, seed, step, b, &h->err);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

void harness_eval(struct harness *h, int64_t which, int64_t index, struct batch *b)
{
    peat_status status = task_eval_batch(&h->task, which, index, b, &h->err);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

void harness_test(struct harness *h, int64_t which, int64_t index, struct batch *b)
{
    peat_status status = task_test_batch(&h->task, which, index, b, &h->err);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

/* A side of T positions; those not given are 0 .. T-1. */
static peat_side side_of(struct harness *h, int64_t T, int64_t pos_B, const double *pos)
{
    if (!pos) {
        double *count = arena_alloc(&h->arena, (size_t)T * sizeof(*count));
        for (int64_t i = 0; i < T; i++)
            count[i] = (double)i;
        pos = count;
        pos_B = 1;
    }
    return (peat_side){
        .size = sizeof(peat_side), .T = T, .T_total = T, .pos_B = pos_B, .n_axes = 1, .pos = pos};
}

/* A pass whose nodes belong to g. */
static const peat_call *begin(struct harness *h, struct graph *g, int64_t B, const peat_side *side)
{
    h->pass = (struct pass){
        .g = g,
        .positional = &h->positional,
        .dims = h->dims,
        .phase = PEAT_TRAIN,
        .B = B,
        .step = 1,
        .seed = 1,
        .model_arena = &h->arena,
        .span.rows = *side,
        .collect = true,
    };
    weights_begin(&h->weights);
    if (h->scheme && !(h->scheme->needs & PEAT_NEED_TOKENS))
        pass_own_positions(&h->pass, 0);
    call_init(&h->call, &h->pass, h->scheme ? 0 : -1, -1);
    if (h->scheme && h->scheme->prepare)
        ck_assert_int_eq(h->scheme->prepare(&h->call.base, h->pass.shared[0]), PEAT_OK);
    return &h->call.base;
}

bool harness_again(struct harness *h)
{
    const peat_side *own = &h->call.own;
    peat_side *side = &h->pass.span.rows;
    side->token = own->token;
    side->segment = own->segment;
    side->document = own->document;
    side->pad = own->pad;
    h->pass.phase = h->call.base.phase;
    h->pass.step = h->call.base.step;
    bool ok = pass_own_positions(&h->pass, 0);
    call_init(&h->call, &h->pass, 0, h->call.base.layer);
    return ok;
}

const peat_call *harness_call(struct harness *h, int64_t B, int64_t T, int64_t pos_B,
                              const double *pos)
{
    peat_side side = side_of(h, T, pos_B, pos);
    arena_reset(&h->step);
    graph_init(&h->graph, &h->step, lone_team(), PEAT_F64);
    return begin(h, &h->graph, B, &side);
}

peat_node *harness_constant(struct harness *h, int32_t rank, const int64_t *dim,
                            const double *value)
{
    return peat_fill(&h->call.base, rank, dim, value);
}

double harness_at(const peat_node *n, int64_t flat)
{
    ck_assert_ptr_nonnull(n);
    return tensor_get(&n->value, flat);
}

/* ---- gradient checks ---- */

struct check {
    struct harness *h;
    peat_side side;
    int32_t n; /* streams, before the tensors */
    int64_t B;
};

/* The tensors of the plugin are inputs too: the node that stands for each is replaced. */
static void lend_weights(struct harness *h, peat_node *const *input)
{
    for (int i = 0; i < h->weights.n; i++)
        h->weights.item[i]->node = input[i];
}

static peat_node *merge_again(struct graph *g, peat_node *const *input, void *ctx)
{
    struct check *k = ctx;
    const peat_call *c = begin(k->h, g, k->B, &k->side);
    lend_weights(k->h, input + k->n);
    return k->h->combine->merge(c, k->n, input);
}

static peat_node *encode_again(struct graph *g, peat_node *const *input, void *ctx)
{
    struct check *k = ctx;
    const peat_call *c = begin(k->h, g, k->B, &k->side);
    lend_weights(k->h, input);
    return k->h->scheme->encode(c);
}

/* Values in [-1, 1) from a fixed stream. */
static struct tensor filled(struct harness *h, uint64_t stream, int rank, const int64_t *dim)
{
    struct tensor t = tensor_new(&h->arena, PEAT_F64, rank, dim);
    for (int64_t i = 0; i < tensor_count(&t); i++)
        tensor_set(&t, i, 2 * rng_uniform(stream, (uint64_t)i) - 1);
    return t;
}

static void run_check(struct check *k, gradcheck_fn fn, struct tensor *input)
{
    struct harness *h = k->h;
    struct gradcheck options = {.team = lone_team()};
    struct gradcheck_result result;
    for (int i = 0; i < h->weights.n; i++)
        input[k->n + i] = h->weights.item[i]->value;
    peat_status status =
        gradcheck_run(&options, fn, k, k->n + h->weights.n, input, NULL, &result, &h->err);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
    ck_assert_int_gt(result.checked, 0);
}

void harness_gradcheck_merge(struct harness *h, int64_t T, int32_t n, const int64_t *batch)
{
    struct tensor input[GRADCHECK_INPUTS];
    struct check k = {.h = h, .side = side_of(h, T, 1, NULL), .n = n, .B = batch[0]};
    ck_assert_int_le(n + h->weights.n, GRADCHECK_INPUTS);
    for (int32_t i = 0; i < n; i++)
        input[i] = filled(h, (uint64_t)i + 1, 3, (int64_t[]){batch[i], T, h->positional.width[i]});
    run_check(&k, merge_again, input);
}

void harness_gradcheck_encode(struct harness *h, int64_t T, const double *pos)
{
    struct tensor input[GRADCHECK_INPUTS];
    struct check k = {.h = h, .side = side_of(h, T, 1, pos), .B = 1};
    ck_assert_int_le(h->weights.n, GRADCHECK_INPUTS);
    run_check(&k, encode_again, input);
}
