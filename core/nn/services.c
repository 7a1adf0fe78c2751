/* SPDX-License-Identifier: MIT */
/* services.c: what hooks may ask of the engine; plugin/host.c puts these into the plugins' table.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/ops.h"
#include "base/file.h"
#include "base/rng.h"
#include "nn/attention.h"
#include "nn/positional.h"

/* base is the first member of both. */
static struct setup *setup_of(peat_setup *s)
{
    return (struct setup *)s;
}

static const struct call *call_of(const peat_call *c)
{
    return (const struct call *)c;
}

static struct graph *graph_of(const peat_call *c)
{
    return (struct graph *)c->g;
}

/* ---- set-up ---- */

static peat_status setup_fail(struct setup *s, peat_status status, const char *fmt, ...)
{
    if (s->status != PEAT_OK)
        return s->status;
    struct error text = {0};
    va_list args;
    va_start(args, fmt);
    vsnprintf(text.text, sizeof(text.text), fmt, args);
    va_end(args);
    s->status = status;
    return error_set(s->err, status, "%s", text.text);
}

static peat_scope scope_of(const struct setup *s, peat_scope scope)
{
    if (scope == PEAT_PER_USER)
        return s->where ? s->where->share : PEAT_ONCE;
    return scope;
}

static bool acts_at(const struct where *where, int64_t layer)
{
    if (!where || where->n_layer == 0)
        return true;
    for (int64_t i = 0; i < where->n_layer; i++)
        if (where->layer[i] == layer)
            return true;
    return false;
}

/* "position.0.rotary.freq" or "position.0.rotary.layer.3.freq" */
static struct weight *add_weight(struct setup *s, const char *name, int64_t layer, int rank,
                                 const int64_t *dim, peat_init init, uint32_t use)
{
    const char *full = layer < 0 ? arena_printf(s->arena, "%s.%s", s->part->prefix, name)
                                 : arena_printf(s->arena, "%s.layer.%lld.%s", s->part->prefix,
                                                (long long)layer, name);
    struct weight *w = full ? weights_add(s->weights, full, rank, dim, init, use) : NULL;
    if (!w)
        setup_fail(s, PEAT_FAILED,
                   "'%s' could not register '%s': the name is taken or there is no "
                   "memory",
                   s->part->id, name);
    return w;
}

static bool legal_shape(struct setup *s, const char *name, int rank, const int64_t *dim,
                        int64_t *out)
{
    if (rank < 1 || rank > PEAT_MAX_RANK) {
        setup_fail(s, PEAT_FAILED, "'%s' registers '%s' with rank %d", s->part->id, name, rank);
        return false;
    }
    for (int i = 0; i < rank; i++) {
        out[i] = dim[i] == PEAT_HEADS ? s->heads : dim[i];
        s->part->per_head = s->part->per_head || dim[i] == PEAT_HEADS;
        if (out[i] > 0)
            continue;
        setup_fail(s, PEAT_FAILED, "'%s' registers '%s' with a dimension of %lld", s->part->id,
                   name, (long long)dim[i]);
        return false;
    }
    return true;
}

int32_t service_param(peat_setup *base, const char *name, int32_t rank, const int64_t *dim,
                      peat_init init, peat_scope scope, uint32_t use)
{
    struct setup *s = setup_of(base);
    struct part *part = s->part;
    int64_t shape[PEAT_MAX_RANK];
    scope = scope_of(s, scope);
    if (!s->weights || (scope == PEAT_PER_LAYER && !s->where)) {
        setup_fail(s, PEAT_FAILED, "'%s' cannot register '%s': %s", part->id, name,
                   s->weights ? "a combine has no layers" : "a task has no trainable tensors");
        return -1;
    }
    if (part->n_weight == (int)(sizeof(part->weight) / sizeof(*part->weight))) {
        setup_fail(s, PEAT_FAILED, "'%s' registers more than %d tensors", part->id, part->n_weight);
        return -1;
    }
    if (s->status != PEAT_OK || !legal_shape(s, name, rank, dim, shape))
        return -1;
    int64_t n = scope == PEAT_PER_LAYER ? s->base.dims.L : 1;
    part->per_layer = part->per_layer || scope == PEAT_PER_LAYER;
    struct scheme_weight *sw = &part->weight[part->n_weight];
    *sw = (struct scheme_weight){arena_strdup(s->arena, name), scope,
                                 ARENA_TRY_ARRAY(s->arena, n, struct weight *)};
    if (!sw->layer) {
        setup_fail(s, PEAT_NOMEM, "no memory for the tensors of '%s'", part->id);
        return -1;
    }
    for (int64_t l = 0; l < n; l++)
        if (scope != PEAT_PER_LAYER || acts_at(s->where, l))
            sw->layer[l] =
                add_weight(s, name, scope == PEAT_PER_LAYER ? l : -1, rank, shape, init, use);
    return s->status == PEAT_OK ? part->n_weight++ : -1;
}

void service_bound(peat_setup *base, int32_t handle, double lo, double hi)
{
    struct setup *s = setup_of(base);
    if (handle < 0 || handle >= s->part->n_weight) {
        setup_fail(s, PEAT_FAILED, "'%s' bounds a tensor it has not registered", s->part->id);
        return;
    }
    const struct scheme_weight *sw = &s->part->weight[handle];
    int64_t n = sw->scope == PEAT_PER_LAYER ? s->base.dims.L : 1;
    for (int64_t l = 0; l < n; l++) {
        if (!sw->layer[l])
            continue;
        sw->layer[l]->bounded = true;
        sw->layer[l]->lo = lo;
        sw->layer[l]->hi = hi;
    }
}

peat_status service_refuse(peat_setup *base, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return setup_fail(setup_of(base), PEAT_REFUSED, "%s", text);
}

void *service_alloc(peat_setup *base, size_t bytes)
{
    return arena_try_zalloc(setup_of(base)->arena, bytes);
}

void service_resolved(peat_setup *base, const char *key, double value)
{
    struct setup *s = setup_of(base);
    struct place at = {0};
    if (!s->part->resolved)
        s->part->resolved = value_map(s->arena, at);
    struct value *v = value == (double)(int64_t)value ? value_int(s->arena, at, (int64_t)value)
                                                      : value_real(s->arena, at, value);
    value_set(s->arena, s->part->resolved, arena_strdup(s->arena, key), at, v);
}

const unsigned char *service_read_file(peat_setup *base, const char *path, int64_t *bytes)
{
    struct setup *s = setup_of(base);
    struct error err = {0};
    char *text = NULL;
    size_t n = 0;
    if (file_read(path, 0, &text, &n, &err) != PEAT_OK) {
        setup_fail(s, err.status, "%s", err.text);
        return NULL;
    }
    unsigned char *copy = arena_try_alloc(s->arena, n + 1);
    if (copy)
        memcpy(copy, text, n + 1);
    else
        setup_fail(s, PEAT_NOMEM, "no memory for the %zu bytes of '%s'", n, path);
    free(text);
    *bytes = (int64_t)n;
    return copy;
}

/* ---- one forward pass ---- */

void call_init(struct call *c, struct pass *pass, int index, int64_t layer)
{
    struct positional *p = pass->positional;
    struct part *part = index < 0 ? &p->combine_part : &p->scheme[index].part;
    uint32_t needs = index < 0 ? p->combine->needs : p->scheme[index].hooks->needs;
    *c = (struct call){
        .base = {.size = sizeof(c->base),
                 .host = p->host,
                 .g = &pass->g->base,
                 .config = part->config,
                 .self = part->self,
                 .dims = pass->dims,
                 .phase = pass->phase,
                 .layer = (int32_t)layer,
                 .B = pass->B,
                 .H = pass->dims.H,
                 .step = pass->step,
                 .shared = index < 0 ? NULL : pass->shared[index]},
        .pass = pass,
        .part = part,
    };
    c->own = pass->side;
    if (!(needs & PEAT_NEED_TOKENS))
        c->own.token = NULL;
    if (!(needs & PEAT_NEED_LENGTH))
        c->own.T_total = 0;
    c->base.q = c->base.k = &c->own;
    if (index < 0)
        return;
    const struct scheme_part *s = &p->scheme[index];
    c->base.d = c->base.dims.d = s->d;
    c->base.dims.C = positional_width(s, pass->dims.C);
    if (s->where.head_end > 0) {
        c->base.H = s->where.head_end - s->where.head_begin;
        c->head_begin = s->where.head_begin;
    }
}

void hook_begin(struct pass *pass, const char *id, const char *hook)
{
    pass->g->hook = arena_printf(pass->g->arena, "%s.%s", id, hook);
    if (pass->g->hook)
        trail_enter(pass->g->trail, pass->g->hook);
}

static bool shape_fits(const struct tensor *t, int rank, const int64_t *dim, uint32_t either)
{
    if (t->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (t->dim[i] != dim[i] && !(t->dim[i] == 1 && (either >> i & 1)))
            return false;
    return true;
}

peat_node *hook_end(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                    uint32_t either)
{
    trail_leave(pass->g->trail);
    if (!node && !graph_failed(pass->g))
        graph_fail(pass->g, "the hook returned nothing");
    if (node && !shape_fits(&node->value, rank, dim, either)) {
        char got[96], want[96];
        struct tensor expected = tensor_shape(node->value.dtype, rank, dim);
        node = graph_fail(pass->g, "the hook returned shape %s, expected %s",
                          tensor_shape_text(&node->value, got, sizeof(got)),
                          tensor_shape_text(&expected, want, sizeof(want)));
    }
    pass->g->hook = NULL;
    return node;
}

bool hook_status(struct pass *pass, peat_status status)
{
    trail_leave(pass->g->trail);
    if (status != PEAT_OK && !graph_failed(pass->g))
        graph_fail(pass->g, "the hook failed: %s", status_text(status));
    pass->g->hook = NULL;
    return !graph_failed(pass->g);
}

peat_node *service_use(const peat_call *c, int32_t handle)
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

peat_node *service_project(const peat_call *c, peat_node *x, int32_t which)
{
    const struct call *call = call_of(c);
    struct graph *g = graph_of(c);
    if (!call->attention || which < 0 || which > 2)
        return graph_fail(g, "project is for attention hooks that declare NEED_PROJECT");
    int64_t D = c->dims.D, C = call->pass->dims.C;
    int64_t begin = which * D + call->head_begin * C, end = begin + c->H * C;
    peat_node *w = op_slice(&g->base, weight_node(g, call->attention->qkv_w), 0, begin, end);
    peat_node *b = op_slice(&g->base, weight_node(g, call->attention->qkv_b), 0, begin, end);
    /* x [1|B,n,D] -> [1|B,n,H*C] -> [1|B,H,n,C] */
    peat_shape s = peat_shape_of(&g->base, x);
    peat_node *y = op_linear(&g->base, x, w, b);
    y = op_reshape(&g->base, y, 4, (int64_t[]){s.dim[0], s.dim[1], c->H, C});
    return op_permute(&g->base, y, 4, (int32_t[]){0, 2, 1, 3});
}

double *service_scratch(const peat_call *c, int64_t n)
{
    return ARENA_TRY_ARRAY(graph_of(c)->arena, n, double);
}

static peat_node *constant(const peat_call *c, peat_dtype t, int32_t rank, const int64_t *dim,
                           const double *value)
{
    if (!value)
        return graph_no_memory(graph_of(c), "a constant", 0);
    peat_node *n = graph_constant(graph_of(c), t, rank, dim, NULL);
    if (!n || !n->value.data)
        return n;
    int64_t count = tensor_count(&n->value);
    if (t == PEAT_F32)
        for (int64_t i = 0; i < count; i++)
            ((float *)n->value.data)[i] = (float)value[i];
    else if (t == PEAT_F64)
        memcpy(n->value.data, value, (size_t)count * sizeof(*value));
    else
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)n->value.data)[i] = (int32_t)value[i];
    return n;
}

peat_node *service_fill(const peat_call *c, int32_t rank, const int64_t *dim, const double *value)
{
    return constant(c, graph_of(c)->dtype, rank, dim, value);
}

peat_node *service_fill_index(const peat_call *c, int32_t rank, const int64_t *dim,
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
        t = ARENA_TRY_NEW(arena, struct row_table);
        if (!t)
            return NULL;
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
        double pos = (double)p;
        row(c->config, &pos, value + p * d, d);
    }
    t->value = value;
    t->n = room;
    return t;
}

/* Positions that a table can hold: one axis, whole, from 0 to a sensible length. */
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

peat_node *service_rows(const peat_call *c, const peat_side *side, int64_t d, peat_row_fn row)
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
        double pos[PEAT_MAX_AXES];
        for (int64_t i = 0; i < n; i++) {
            for (int32_t a = 0; a < side->n_axes; a++)
                pos[a] = side->pos[a * n + i];
            row(c->config, pos, value + i * d, d);
        }
    }
    return service_fill(c, 3, (int64_t[]){side->pos_B, side->T, d}, value);
}

peat_node *service_pos(const peat_call *c, const peat_side *side, int32_t axis)
{
    if (axis < 0 || axis >= side->n_axes)
        return graph_fail(graph_of(c), "there is no position axis %d", axis);
    return service_fill(c, 2, (int64_t[]){side->pos_B, side->T},
                        side->pos + axis * side->pos_B * side->T);
}

peat_node *service_delta(const peat_call *c, int32_t axis)
{
    /* pos_k [B,Tk] -> [B,1,1,Tk]; pos_q [B,Tq] -> [B,1,Tq,1] */
    peat_node *q = service_pos(c, c->q, axis), *k = service_pos(c, c->k, axis);
    q = op_reshape(c->g, q, 4, (int64_t[]){c->q->pos_B, 1, c->q->T, 1});
    k = op_reshape(c->g, k, 4, (int64_t[]){c->k->pos_B, 1, 1, c->k->T});
    return op_sub(c->g, k, q);
}

/* Keyed by seed, scheme and name; by layer inside the layers; by step in training. */
static uint64_t random_stream(const peat_call *c, const char *name)
{
    const struct call *call = call_of(c);
    uint64_t s = rng_stream(call->pass->seed, call->part->prefix, name);
    s = rng_substream(s, (uint64_t)(c->layer + 1));
    return c->phase == PEAT_TRAIN ? rng_substream(s, (uint64_t)c->step + 1) : s;
}

peat_node *service_random(const peat_call *c, const char *name, int32_t rank, const int64_t *dim)
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

void service_random_row(const peat_call *c, const char *name, int64_t b, int64_t n, double *out)
{
    const int64_t *sequence = c->q->sequence;
    uint64_t row = (uint64_t)(sequence ? sequence[b] : b);
    uint64_t stream = rng_substream(random_stream(c, name), row);
    for (int64_t i = 0; i < n; i++)
        out[i] = rng_uniform(stream, (uint64_t)i);
}

void service_probe(const peat_call *c, const char *name, peat_node *n)
{
    struct pass *pass = call_of(c)->pass;
    if (!pass->collect || !n || pass->n_probe == (int)(sizeof(pass->probe) / sizeof(*pass->probe)))
        return;
    n->name = arena_strdup(pass->g->arena, name);
    pass->probe[pass->n_probe++] = n;
}
