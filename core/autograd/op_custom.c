/* SPDX-License-Identifier: MIT */
/*
 * op_custom.c: a plugin's own operation.
 *
 * Its kernels see dense, aligned operands. A gradient has the layout of its operand, so kernels get
 * it in place. Several results are views of one node.
 */

#include "opkit.h"

enum { CUSTOM_TILES = 32, ALIGNMENT = 64 };

/* The offset of each result in the value is a multiple of this many elements: at least ALIGNMENT
 * bytes of any type. */
enum { APART = 16 };

struct custom_arg {
    const peat_op *op;
    const void *arg; /* the plugin's operation, copied */
    int n_out;
    peat_shape *shape; /* shapes of the results, set by infer */
};

/* The arrays that a peat_op_call points to; they live in the arena. */
struct custom_call {
    peat_op_call call;
    const peat_op *op;
    peat_view *src, *src_grad, out[PEAT_MAX_RESULTS], out_grad[PEAT_MAX_RESULTS];
    double *scratch;
    int64_t each; /* number of doubles from one thread's scratch to the next's */
    bool back;
};

static peat_view view_of(const struct tensor *t, bool with_data)
{
    peat_view v = {.size = sizeof(v), .dtype = t->dtype, .data = with_data ? t->data : NULL};
    v.shape.rank = t->rank;
    memcpy(v.shape.dim, t->dim, sizeof(v.shape.dim));
    return v;
}

/* A call without results. */
static void custom_call(const peat_node *n, struct custom_call *c)
{
    const struct custom_arg *arg = n->arg;
    *c = (struct custom_call){.op = arg->op};
    c->src = ARENA_ARRAY(n->g->arena, n->n_src + 1, peat_view);
    for (int i = 0; i < n->n_src; i++)
        c->src[i] = view_of(&n->src[i]->value, true);
    c->call =
        (peat_op_call){.size = sizeof(c->call), .n_src = n->n_src, .src = c->src, .arg = arg->arg};
}

/* ---- results: several in one value, each aligned ---- */

static int64_t count_of(const peat_shape *s)
{
    int64_t n = 1;
    for (int32_t i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

/* The offset of the i-th result in elements; for i = their number, the size of all. */
static int64_t result_offset(const struct custom_arg *arg, int i)
{
    int64_t at = 0;
    for (int k = 0; k < i; k++)
        at += (count_of(&arg->shape[k]) + APART - 1) / APART * APART;
    return at;
}

/* The results as parts of a node's value, or of its gradient. */
static void results_in(const struct custom_arg *arg, const struct tensor *t, peat_view *out)
{
    for (int i = 0; i < arg->n_out; i++) {
        int64_t at = result_offset(arg, i) * (int64_t)dtype_bytes(t->dtype);
        out[i] = (peat_view){.size = sizeof(*out), .dtype = t->dtype, .shape = arg->shape[i]};
        out[i].data = t->data ? (char *)t->data + at : NULL;
    }
}

/* A call with the results, whose shapes infer has set. */
static void full_call(const peat_node *n, struct custom_call *c)
{
    custom_call(n, c);
    results_in(n->arg, &n->value, c->out);
    c->call.out = c->out;
}

/* Fills the gaps between results with 0. */
static void clear_between(const peat_node *n)
{
    const struct custom_arg *arg = n->arg;
    size_t each = dtype_bytes(n->value.dtype);
    for (int i = 0; arg->n_out > 1 && i < arg->n_out; i++) {
        int64_t end = result_offset(arg, i) + count_of(&arg->shape[i]);
        memset((char *)n->value.data + (size_t)end * each, 0,
               (size_t)(result_offset(arg, i + 1) - end) * each);
    }
}

bool custom_writes(const peat_node *n, size_t byte)
{
    const struct custom_arg *arg = n->arg;
    int64_t at = (int64_t)(byte / dtype_bytes(n->value.dtype));
    for (int i = arg->n_out - 1; i > 0; i--)
        if (at >= result_offset(arg, i))
            return at < result_offset(arg, i) + count_of(&arg->shape[i]);
    return at < count_of(&arg->shape[0]);
}

static void check_shape(peat_node *n, const peat_shape *s)
{
    if (s->rank < 0 || s->rank > PEAT_MAX_RANK)
        graph_fail(n->g, "rank %d is not in 0..%d", s->rank, PEAT_MAX_RANK);
    for (int32_t i = 0; !graph_failed(n->g) && i < s->rank; i++)
        if (s->dim[i] < 0)
            graph_fail(n->g, "a result has a length of %lld", (long long)s->dim[i]);
}

static void custom_infer(peat_node *n)
{
    const struct custom_arg *arg = n->arg;
    struct custom_call c;
    custom_call(n, &c);
    if (!c.op->infer(&c.call, arg->shape))
        graph_fail(n->g, "operands do not fit");
    for (int i = 0; i < arg->n_out; i++)
        check_shape(n, &arg->shape[i]);
    if (graph_failed(n->g))
        return;
    int64_t all = result_offset(arg, arg->n_out);
    n->value = arg->n_out == 1 ? tensor_shape(n->g->dtype, arg->shape[0].rank, arg->shape[0].dim)
                               : tensor_shape(n->g->dtype, 1, &all);
}

/* ---- runs ---- */

static int64_t units_of(const struct custom_call *c)
{
    return PEAT_HAS(c->op, units) ? c->op->units(&c->call) : 1;
}

/* Working memory of all threads, allocated at the first run and kept for the backward. */
static bool take_scratch(peat_node *n, struct custom_call *c)
{
    int threads = n->g->team && n->g->team->threads > 1 ? n->g->team->threads : 1;
    int64_t each = PEAT_HAS(c->op, scratch) ? c->op->scratch(&c->call) : 0;
    if (each <= 0)
        return true;
    c->each = (each + APART - 1) / APART * APART;
    /* The last result has no gap after it: a guard zone begins there. */
    size_t bytes = (size_t)(c->each * (threads - 1) + each) * sizeof(double);
    if (!n->saved)
        n->saved = graph_scratch(n->g, bytes);
    c->scratch = n->saved;
    return c->scratch;
}

static void run_units(void *ctx, int64_t begin, int64_t end)
{
    const struct custom_call *c = ctx;
    peat_op_call call = c->call;
    if (c->scratch)
        call.scratch = c->scratch + parallel_thread() * c->each;
    if (c->back)
        c->op->backward(&call, begin, end);
    else
        c->op->forward(&call, begin, end);
}

static void run_all(peat_node *n, struct custom_call *c)
{
    if (!take_scratch(n, c))
        return;
    trail_enter_kernel(n->g->trail, n->hook, n->op->name, c->back);
    int64_t units = units_of(c);
    parallel_ranges(n->g->team, units, (units + CUSTOM_TILES - 1) / CUSTOM_TILES, run_units, c);
    trail_leave_kernel(n->g->trail);
}

static void custom_forward(peat_node *n)
{
    struct custom_call c;
    full_call(n, &c);
    clear_between(n);
    run_all(n, &c);
}

static void custom_backward(peat_node *n)
{
    struct custom_call c;
    full_call(n, &c);
    c.src_grad = ARENA_ARRAY(n->g->arena, n->n_src + 1, peat_view);
    for (int i = 0; i < n->n_src; i++) {
        bool wanted = wants_grad(n, i);
        struct tensor grad = wanted ? node_grad(n->src[i]) : n->src[i]->value;
        c.src_grad[i] = view_of(&grad, wanted);
    }
    results_in(n->arg, &n->grad, c.out_grad);
    c.call.out_grad = c.out_grad;
    c.call.src_grad = c.src_grad;
    c.back = true;
    run_all(n, &c);
}

static int64_t custom_flops(const peat_node *n)
{
    struct custom_call c;
    full_call(n, &c);
    return PEAT_HAS(c.op, flops) ? c.op->flops(&c.call) : 0;
}

/* The operand itself if it is dense and aligned, otherwise a copy. A view's alignment follows from
 * its offset, so the choice is the same in every run. */
static peat_node *presentable(struct graph *g, peat_node *a)
{
    if (!a || graph_failed(g))
        return NULL;
    int64_t offset = a->view_offset * (int64_t)dtype_bytes(a->value.dtype);
    bool aligned = offset % ALIGNMENT == 0 && (uintptr_t)a->value.data % ALIGNMENT == 0;
    return aligned && tensor_contiguous(&a->value) ? a : op_copy(g, a);
}

static const char *name_of(const peat_op *op)
{
    return PEAT_HAS(op, name) ? op->name : "custom";
}

/* The node whose value holds all results. */
static peat_node *custom_node(struct graph *g, const peat_op *op, int n_out, int32_t n,
                              peat_node *const *src, const void *arg, size_t arg_size)
{
    const char *name = name_of(op);
    if (n < 0 || !PEAT_HAS(op, infer) || !PEAT_HAS(op, forward))
        return graph_fail(g, "%s: a custom operation needs infer and forward", name);
    struct op *own = ARENA_NEW(g->arena, struct op);
    peat_node **dense = ARENA_ARRAY(g->arena, n + 1, peat_node *);
    struct custom_arg copy = {op, NULL, n_out, ARENA_ARRAY(g->arena, n_out, peat_shape)};
    memset(copy.shape, 0, (size_t)n_out * sizeof(*copy.shape));
    if (arg_size > 0)
        copy.arg = memcpy(arena_alloc(g->arena, arg_size), arg, arg_size);
    /* The node has the plugin's name for the operation. */
    *own = (struct op){name,           custom_infer,
                       custom_forward, PEAT_HAS(op, backward) ? custom_backward : NULL,
                       custom_flops,   .index = ANY_TYPES};
    for (int i = 0; i < n; i++)
        dense[i] = presentable(g, src[i]);
    return graph_op(g, own, n, dense, 0, &copy, sizeof(copy));
}

static int results(const peat_op *op)
{
    return PEAT_HAS(op, n_out) ? op->n_out : 1;
}

peat_node *op_custom(peat_graph *pg, const peat_op *op, int32_t n, peat_node *const *src,
                     const void *arg, size_t arg_size)
{
    struct graph *g = graph_of(pg);
    if (graph_failed(g))
        return NULL;
    if (results(op) != 1)
        return graph_fail(g, "%s: it has %d results, which peat_custom_all gives", name_of(op),
                          results(op));
    return custom_node(g, op, 1, n, src, arg, arg_size);
}

void op_custom_all(peat_graph *pg, const peat_op *op, int32_t n, peat_node *const *src,
                   const void *arg, size_t arg_size, peat_node **out)
{
    struct graph *g = graph_of(pg);
    int n_out = results(op);
    if (n_out < 1 || n_out > PEAT_MAX_RESULTS) {
        graph_fail(g, "%s: %d results are not 1 to %d", name_of(op), n_out, PEAT_MAX_RESULTS);
        return;
    }
    peat_node *all = graph_failed(g) ? NULL : custom_node(g, op, n_out, n, src, arg, arg_size);
    const struct custom_arg *made = all ? all->arg : NULL;
    for (int i = 0; i < n_out; i++) {
        struct tensor t = made ? tensor_shape(g->dtype, made->shape[i].rank, made->shape[i].dim)
                               : (struct tensor){0};
        out[i] = made && n_out > 1
                     ? graph_view(g, all, t.rank, t.dim, t.stride, result_offset(made, i))
                     : all;
    }
}

int64_t custom_units(const peat_node *n)
{
    if (n->op->forward != custom_forward)
        return -1;
    struct custom_call c;
    full_call(n, &c);
    return units_of(&c);
}

void custom_run(peat_node *n, int64_t begin, int64_t end)
{
    struct custom_call c;
    full_call(n, &c);
    if (take_scratch(n, &c))
        run_units(&c, begin, end);
}
