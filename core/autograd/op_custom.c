/* SPDX-License-Identifier: MIT */
/*
 * op_custom.c: a plugin's own operation.
 *
 * Its kernels see dense, aligned operands. A gradient is laid out as its operand is, so it is
 * handed over in place.
 */
#include <stdint.h>
#include <string.h>

#include "autograd/ops.h"
#include "opkit.h"

enum { CUSTOM_TILES = 32, ALIGNMENT = 64 };

struct custom_arg {
    const peat_op *op;
    const void *arg; /* the plugin's, copied */
};

/* Everything a peat_op_call points to; the arrays live in the arena. */
struct custom_call {
    peat_op_call call;
    const peat_op *op;
    peat_view *src, *src_grad, out, out_grad;
    bool back;
};

static peat_view view_of(const struct tensor *t, bool with_data)
{
    peat_view v = {.size = sizeof(v), .dtype = t->dtype, .data = with_data ? t->data : NULL};
    v.shape.rank = t->rank;
    memcpy(v.shape.dim, t->dim, sizeof(v.shape.dim));
    return v;
}

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

static void show_result(const peat_node *n, struct custom_call *c)
{
    c->out = view_of(&n->value, true);
    c->call.out = &c->out;
}

static bool infer(peat_node *n)
{
    struct custom_call c;
    custom_call(n, &c);
    peat_shape out = {0, {0}};
    if (!c.op->infer(&c.call, &out))
        return false;
    if (out.rank < 0 || out.rank > PEAT_MAX_RANK) {
        graph_fail(n->g, "rank %d is not in 0..%d", out.rank, PEAT_MAX_RANK);
        return false;
    }
    n->value = tensor_shape(n->g->dtype, out.rank, out.dim);
    return true;
}

static void run_units(void *ctx, int64_t begin, int64_t end)
{
    const struct custom_call *c = ctx;
    if (c->back)
        c->op->backward(&c->call, begin, end);
    else
        c->op->forward(&c->call, begin, end);
}

static void run_all(const peat_node *n, struct custom_call *c)
{
    trail_enter_kernel(n->g->trail, n->hook, n->op->name, c->back);
    int64_t units = PEAT_HAS(c->op, units) ? c->op->units(&c->call) : 1;
    parallel_ranges(n->g->team, units, (units + CUSTOM_TILES - 1) / CUSTOM_TILES, run_units, c);
    trail_leave_kernel(n->g->trail);
}

static void forward(peat_node *n)
{
    struct custom_call c;
    custom_call(n, &c);
    show_result(n, &c);
    run_all(n, &c);
}

static void backward(peat_node *n)
{
    struct custom_call c;
    custom_call(n, &c);
    show_result(n, &c);
    c.src_grad = ARENA_ARRAY(n->g->arena, n->n_src + 1, peat_view);
    for (int i = 0; i < n->n_src; i++) {
        bool wanted = wants_grad(n, i);
        struct tensor grad = wanted ? node_grad(n->src[i]) : n->src[i]->value;
        c.src_grad[i] = view_of(&grad, wanted);
    }
    c.out_grad = view_of(&n->grad, true);
    c.call.out_grad = &c.out_grad;
    c.call.src_grad = c.src_grad;
    c.back = true;
    run_all(n, &c);
}

static int64_t flops(const peat_node *n)
{
    struct custom_call c;
    custom_call(n, &c);
    if (!PEAT_HAS(c.op, flops))
        return 0;
    show_result(n, &c);
    return c.op->flops(&c.call);
}

/* Dense, and on a boundary that depends on the view alone where the memory is the graph's. */
static peat_node *presentable(struct graph *g, peat_node *a)
{
    if (a == NULL || graph_failed(g))
        return NULL;
    int64_t offset = a->view_offset * (int64_t)dtype_bytes(a->value.dtype);
    bool aligned = offset % ALIGNMENT == 0 && (uintptr_t)a->value.data % ALIGNMENT == 0;
    return aligned && tensor_contiguous(&a->value) ? a : op_copy(g, a);
}

peat_node *op_custom(peat_graph *pg, const peat_op *op, int32_t n, peat_node *const *src,
                     const void *arg, size_t arg_size)
{
    struct graph *g = graph_of(pg);
    if (graph_failed(g))
        return NULL;
    const char *name = PEAT_HAS(op, name) ? op->name : "custom";
    if (n < 0 || !PEAT_HAS(op, infer) || !PEAT_HAS(op, forward))
        return graph_fail(g, "%s: a custom operation needs infer and forward", name);
    struct op *own = ARENA_NEW(g->arena, struct op);
    peat_node **dense = ARENA_ARRAY(g->arena, n + 1, peat_node *);
    struct custom_arg copy = {op, NULL};
    if (arg_size > 0)
        copy.arg = memcpy(arena_alloc(g->arena, arg_size), arg, arg_size);
    /* The node carries the plugin's name for it. */
    *own = (struct op){name, infer, forward, PEAT_HAS(op, backward) ? backward : NULL, flops};
    for (int i = 0; i < n; i++)
        dense[i] = presentable(g, src[i]);
    return graph_op(g, own, n, dense, 0, &copy, sizeof(copy));
}

int64_t custom_units(const peat_node *n)
{
    if (n->op->forward != forward)
        return -1;
    struct custom_call c;
    custom_call(n, &c);
    show_result(n, &c);
    return PEAT_HAS(c.op, units) ? c.op->units(&c.call) : 1;
}

void custom_run(const peat_node *n, int64_t begin, int64_t end)
{
    struct custom_call c;
    custom_call(n, &c);
    show_result(n, &c);
    run_units(&c, begin, end);
}
