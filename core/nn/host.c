/* SPDX-License-Identifier: MIT */
/* host.c: the engine's table for plugins, and the functions that hooks of a forward pass may call.
 */

#include <peat/call.h>

#include "nn/attention.h"
#include "services.h"

/* base is the first member */
static const struct call *call_of(const peat_call *c)
{
    return (const struct call *)c;
}

static struct graph *graph_of(const peat_call *c)
{
    return (struct graph *)c->g;
}

static peat_node *service_use(const peat_call *c, int32_t handle)
{
    struct part *part = call_of(c)->part;
    if (handle < 0 || handle >= part->n_weight)
        return graph_fail(graph_of(c), "no tensor was registered under handle %d", handle);
    const struct scheme_weight *sw = &part->weight[handle];
    if (sw->scope != PEAT_PER_LAYER)
        return weight_node(graph_of(c), sw->layer[0]);
    if (c->layer < 0)
        return graph_fail(graph_of(c),
                          "'%s' has one tensor per layer and cannot be used outside "
                          "the layers",
                          sw->name);
    return weight_node(graph_of(c), sw->layer[c->layer]);
}

static peat_node *service_project(const peat_call *c, peat_node *x, int32_t which)
{
    const struct call *call = call_of(c);
    struct graph *g = graph_of(c);
    if (!call->attention || which < 0 || which > 2)
        return graph_fail(g, "project is for attention hooks that declare PEAT_NEED_PROJECT");
    int64_t D = c->dims.D, C = call->pass->dims.C;
    int64_t begin = which * D + call->head_begin * C, end = begin + c->H * C;
    peat_node *w = weight_rows(g, call->attention->qkv_w, begin, end);
    peat_node *b = weight_rows(g, call->attention->qkv_b, begin, end);
    /* x [1|B,n,D] -> [1|B,n,H*C] -> [1|B,H,n,C] */
    peat_node *y = op_linear(&g->base, x, w, b);
    y = op_reshape(&g->base, y, 4, (int64_t[]){node_dim(x, 0), node_dim(x, 1), c->H, C});
    return op_permute(&g->base, y, 4, (int32_t[]){0, 2, 1, 3});
}

/* Checks guard the arena. NaN then shows the elements that a plugin does not write. */
static double *service_scratch(const peat_call *c, int64_t n)
{
    struct arena *arena = graph_of(c)->arena;
    double *x = ARENA_TRY_ARRAY(arena, n, double);
    for (int64_t i = 0; x && arena->guard_bytes && i < n; i++)
        x[i] = (double)NAN;
    return x;
}

static peat_node *constant(const peat_call *c, peat_dtype t, int32_t rank, const int64_t *dim,
                           const double *value)
{
    if (!value)
        return graph_no_memory(graph_of(c), "a constant", 0);
    peat_node *n = graph_constant(graph_of(c), t, rank, dim, NULL);
    if (!n || !n->value.data)
        return n;
    struct tensor from = tensor_shape(PEAT_F64, rank, dim);
    from.data = (void *)(uintptr_t)value;
    tensor_copy(&n->value, &from);
    return n;
}

static peat_node *service_fill(const peat_call *c, int32_t rank, const int64_t *dim,
                               const double *value)
{
    return constant(c, graph_of(c)->dtype, rank, dim, value);
}

static peat_node *service_fill_index(const peat_call *c, int32_t rank, const int64_t *dim,
                                     const double *value)
{
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        n *= dim[i];
    for (int64_t i = 0; value && i < n; i++)
        if (value[i] != (double)(int32_t)value[i])
            return graph_fail(graph_of(c), "index %g is not a whole number", value[i]);
    return constant(c, PEAT_I32, rank, dim, value);
}

/* The table of a row function with at least n rows; grown by doubling, kept with the model. */
static struct row_table *row_table(const peat_call *c, int64_t d, peat_row_fn row, int64_t n)
{
    const struct call *call = call_of(c);
    struct arena *arena = call->pass->model_arena;
    struct row_table *t = call->part->rows;
    while (t && (t->row != row || t->d != d))
        t = t->next;
    if (!t) {
        t = ARENA_NEW(arena, struct row_table);
        *t = (struct row_table){row, d, 0, NULL, call->part->rows};
        call->part->rows = t;
    }
    if (t->n >= n)
        return t;
    int64_t room = t->n ? t->n : 64;
    while (room < n)
        room *= 2;
    double *value = ARENA_TRY_ARRAY(arena, room * d, double);
    if (!value)
        return NULL;
    for (int64_t p = 0; p < room; p++) {
        const double pos[PEAT_MAX_AXES] = {(double)p, NAN,
                                           NAN}; /* a row of one axis has no others */
        row(c->config, pos, value + p * d, d);
    }
    t->value = value;
    t->n = room;
    return t;
}

/* Whether a table can hold these positions: whole numbers on one axis, from 0 to a sensible
 * length. */
static bool table_positions(const peat_side *side, double *max)
{
    enum { TABLE_MAX = 1 << 16 };
    *max = 0.0;
    if (side->n_axes != 1)
        return false;
    for (int64_t i = 0; i < side->pos_B * side->T; i++) {
        double p = side->pos[i];
        if (!(p >= 0.0) || p >= TABLE_MAX || p != (double)(int64_t)p)
            return false;
        *max = p > *max ? p : *max;
    }
    return true;
}

static peat_node *service_rows(const peat_call *c, const peat_side *side, int64_t d,
                               peat_row_fn row)
{
    int64_t n = side->pos_B * side->T;
    double *value = service_scratch(c, n * d), max;
    if (!value)
        return graph_no_memory(graph_of(c), "rows", (size_t)(n * d) * sizeof(*value));
    if (table_positions(side, &max)) {
        const struct row_table *t = row_table(c, d, row, (int64_t)max + 1);
        if (!t)
            return graph_no_memory(graph_of(c), "rows", (size_t)(n * d) * sizeof(*value));
        for (int64_t i = 0; i < n; i++)
            memcpy(value + i * d, t->value + (int64_t)side->pos[i] * d, (size_t)d * sizeof(*value));
    } else {
        double pos[PEAT_MAX_AXES] = {NAN, NAN, NAN};
        for (int64_t i = 0; i < n; i++) {
            for (int32_t a = 0; a < side->n_axes; a++)
                pos[a] = side->pos[a * n + i];
            row(c->config, pos, value + i * d, d);
        }
    }
    return service_fill(c, 3, (int64_t[]){side->pos_B, side->T, d}, value);
}

static peat_node *service_pos(const peat_call *c, const peat_side *side, int32_t axis)
{
    if (axis < 0 || axis >= side->n_axes)
        return graph_fail(graph_of(c), "there is no position axis %d", axis);
    return service_fill(c, 2, (int64_t[]){side->pos_B, side->T},
                        side->pos + axis * side->pos_B * side->T);
}

static peat_node *service_delta(const peat_call *c, int32_t axis)
{
    /* pos_k [B,Tk] -> [B,1,1,Tk]; pos_q [B,Tq] -> [B,1,Tq,1] */
    peat_node *q = service_pos(c, c->q, axis), *k = service_pos(c, c->k, axis);
    q = op_reshape(c->g, q, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1});
    k = op_reshape(c->g, k, 4, (int64_t[]){c->k->pos_B, 1, 1, c->k->T});
    return op_sub(c->g, k, q);
}

/* The key has the seed, scheme and name; in layers also the layer; in training also the step. */
static uint64_t random_stream(const peat_call *c, const char *name)
{
    const struct call *call = call_of(c);
    uint64_t s = rng_stream(call->pass->seed, call->part->prefix, name);
    s = rng_substream(s, (uint64_t)(c->layer + 1));
    return c->phase == PEAT_TRAIN ? rng_substream(s, (uint64_t)c->step + 1) : s;
}

static peat_node *service_random(const peat_call *c, const char *name, int32_t rank,
                                 const int64_t *dim)
{
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        n *= dim[i];
    double *value = service_scratch(c, n);
    uint64_t stream = random_stream(c, name);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = rng_uniform(stream, (uint64_t)i);
    return service_fill(c, rank, dim, value);
}

static void service_random_row(const peat_call *c, const char *name, int64_t b, int64_t n,
                               double *out)
{
    const int64_t *sequence = c->q->sequence;
    uint64_t row = (uint64_t)(sequence ? sequence[b] : b);
    uint64_t stream = rng_substream(random_stream(c, name), row);
    for (int64_t i = 0; i < n; i++)
        out[i] = rng_uniform(stream, (uint64_t)i);
}

static void service_probe(const peat_call *c, const char *name, peat_node *n)
{
    const struct call *call = call_of(c);
    struct pass *pass = call->pass;
    struct arena *a = pass->g->arena;
    if (!pass->collect || !n)
        return;
    n->name = arena_strdup(a, name);
    *ARENA_APPEND(a, pass->probe, pass->n_probe, pass->probe_room) =
        (struct probe){n, call->part->id, c->layer};
}

/* ---- extensions ---- */

static bool facts_across(const peat_call *c)
{
    return call_of(c)->pass->span.source != NULL;
}

static int64_t facts_n_valid(const peat_call *c, const peat_side *side, int64_t b)
{
    (void)c;
    int64_t n = side->T;
    for (int64_t t = 0; side->pad && t < side->T; t++)
        n -= side->pad[b * side->T + t] != 0;
    return n;
}

static int64_t facts_trained_step(const peat_call *c)
{
    return call_of(c)->pass->trained_step;
}

static bool facts_is_shared(const peat_call *c, int32_t handle)
{
    const struct part *part = call_of(c)->part;
    return handle >= 0 && handle < part->n_weight && part->weight[handle].scope != PEAT_PER_LAYER;
}

static const void *host_extension(const peat_host *h, const char *name)
{
    static const peat_call_facts facts = {
        .size = sizeof(facts),
        .across = facts_across,
        .n_valid = facts_n_valid,
        .trained_step = facts_trained_step,
        .is_shared = facts_is_shared,
    };
    (void)h;
    return strcmp(name, PEAT_CALL_FACTS) == 0 ? &facts : NULL;
}

/* ---- the table ---- */

/* the stderr of a cell's process is its log.txt */
static void host_log(const peat_host *h, const char *fmt, ...)
{
    (void)h;
    va_list args;
    va_start(args, fmt);
    line_print(stderr, "plugin: ", fmt, args);
    va_end(args);
}

static const peat_host table = {
    .size = sizeof(table),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .param = service_param,
    .bound = service_bound,
    .refuse = service_refuse,
    .alloc = service_alloc,
    .resolved = service_resolved,
    .read_file = service_read_file,
    .use = service_use,
    .project = service_project,
    .scratch = service_scratch,
    .fill = service_fill,
    .fill_index = service_fill_index,
    .rows = service_rows,
    .pos = service_pos,
    .delta = service_delta,
    .random = service_random,
    .random_row = service_random_row,
    .probe = service_probe,
    .draw = rng_bits,
    .log = host_log,
    .extension = host_extension,
    .token_table = service_token_table,
    .resolved_list = service_resolved_list,
    .file_kind = service_file_kind,
    .npy_ids = service_npy_ids,
    .is_folder = service_is_folder,
};

const peat_host *host_table(void)
{
    return &table;
}
