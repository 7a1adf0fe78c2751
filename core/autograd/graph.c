/* SPDX-License-Identifier: MIT */
/* graph.c: builds the tape, keeps its gradients, and runs backward from the end. */
#include "autograd/graph.h"

#include "autograd/recompute.h"
#include "opkit.h"
#include "tensor/gemm.h"

static const struct op view_op = {.name = "view", .unread = UNREAD_ALL, .index = ANY_TYPES};

void graph_init(struct graph *g, struct arena *arena, const struct team *team, peat_dtype dtype)
{
    *g = (struct graph){.base.ops = &ops_table,
                        .arena = arena,
                        .team = team,
                        .dtype = dtype,
                        .keep = RECOMPUTE_BYTES};
}

/* ---- nodes ---- */

void *graph_scratch(struct graph *g, size_t bytes)
{
    if (g->shape_only || graph_failed(g))
        return NULL;
    void *p = arena_try_alloc(g->arena, bytes);
    if (!p)
        graph_no_memory(g, "scratch", bytes);
    return p;
}

void graph_done_with(struct graph *g, void *scratch, size_t bytes)
{
    if (g->reuse && scratch)
        pool_give(&g->pool, scratch, bytes);
}

static peat_node *tape_push(struct graph *g, peat_node *n)
{
    n->id = g->n_node;
    *ARENA_APPEND(g->arena, g->node, g->n_node, g->room) = n;
    return n;
}

static peat_node *node_new(struct graph *g, const struct op *op, int n_src, peat_node *const *src)
{
    peat_node *n = ARENA_NEW(g->arena, peat_node);
    peat_node **own = n_src > 0 ? ARENA_ARRAY(g->arena, n_src, peat_node *) : NULL;
    for (int i = 0; i < n_src; i++)
        own[i] = src[i];
    *n = (peat_node){.g = g, .op = op, .n_src = n_src, .src = own, .hook = g->hook};
    return n;
}

static bool shape_valid(struct graph *g, const char *what, int rank, const int64_t *dim)
{
    if (rank < 0 || rank > PEAT_MAX_RANK) {
        graph_fail(g, "%s: rank %d is not in 0..%d", what, rank, PEAT_MAX_RANK);
        return false;
    }
    const struct tensor t = tensor_shape(g->dtype, rank, dim);
    if (tensor_count(&t) >= 0)
        return true;
    char text[160];
    graph_fail(g, "%s: shape %s is negative or too large", what,
               tensor_shape_text(&t, text, sizeof(text)));
    return false;
}

static bool value_alloc(struct graph *g, peat_node *n)
{
    size_t bytes = tensor_bytes(&n->value);
    g->value_bytes += (int64_t)bytes;
    if (g->shape_only)
        return true;
    bool pooled = g->n_recomputed > 0 && bytes >= RECOMPUTE_POOLED;
    n->value.data =
        pooled ? pool_take(&g->pool, g->arena, bytes) : arena_try_alloc(g->arena, bytes);
    if (n->value.data)
        return true;
    graph_no_memory(g, n->op ? n->op->name : "constant", bytes);
    return false;
}

peat_node *graph_constant(struct graph *g, peat_dtype t, int rank, const int64_t *dim, void *data)
{
    if (graph_failed(g) || !shape_valid(g, "constant", rank, dim))
        return NULL;
    peat_node *n = node_new(g, NULL, 0, NULL);
    n->value = tensor_shape(t, rank, dim);
    n->value.data = data;
    if (!data && !value_alloc(g, n))
        return NULL;
    return tape_push(g, n);
}

peat_node *graph_zeros(struct graph *g, peat_dtype dtype, int rank, const int64_t *dim)
{
    peat_node *zero = graph_constant(g, dtype, rank, dim, NULL);
    if (zero && zero->value.data)
        memset(zero->value.data, 0, tensor_bytes(&zero->value));
    return zero;
}

peat_node *graph_zeros_like(struct graph *g, const peat_node *x)
{
    return x ? graph_zeros(g, x->value.dtype, x->value.rank, x->value.dim) : NULL;
}

peat_node *graph_leaf(struct graph *g, const struct tensor *value, const struct tensor *grad,
                      const char *name)
{
    const char *who = name ? name : "leaf";
    if (graph_failed(g) || !shape_valid(g, who, value->rank, value->dim))
        return NULL;
    if (value->dtype != g->dtype)
        return graph_fail(g, "%s: dtype %s in a graph of %s", who, dtype_name(value->dtype),
                          dtype_name(g->dtype));
    /* Views find their gradient by the strides of the leaf's value, so both must be laid
     * out alike. */
    if (!tensor_contiguous(value) ||
        (grad && (grad->dtype != value->dtype || !tensor_contiguous(grad) ||
                  !tensor_same_shape(grad, value))))
        return graph_fail(g, "%s: value and gradient must be contiguous and alike", who);
    peat_node *n = node_new(g, NULL, 0, NULL);
    n->value = *value;
    n->name = name;
    n->needs_grad = !g->no_grad;
    if (grad)
        n->grad = *grad;
    return tape_push(g, n);
}

static bool sources_ok(struct graph *g, const struct op *op, int n_src, peat_node *const *src,
                       uint32_t optional)
{
    for (int i = 0; i < n_src; i++) {
        if (!src[i] && i < 32 && (optional >> i & 1) != 0)
            continue;
        if (!src[i])
            graph_fail_missing(g, op->name, i + 1);
        else if (src[i]->g != g)
            graph_fail(g, "%s: operand %d belongs to another graph", op->name, i + 1);
        else if (src[i]->value.dtype != g->dtype && src[i]->value.dtype != PEAT_I32)
            graph_fail(g, "%s: operand %d is %s in a graph of %s", op->name, i + 1,
                       dtype_name(src[i]->value.dtype), dtype_name(g->dtype));
        else
            recompute_hold(g, src[i]);
        if (graph_failed(g))
            return false;
    }
    return true;
}

static void check_types(struct graph *g, const peat_node *n)
{
    for (int i = 0; i < n->n_src && n->op->index != ANY_TYPES; i++) {
        bool want = i < 32 && (n->op->index >> i & 1) != 0;
        if (n->src[i] && (n->src[i]->value.dtype == PEAT_I32) != want)
            graph_fail(g, "operand %d must be %s, not %s", i + 1, want ? "I32" : "real",
                       dtype_name(n->src[i]->value.dtype));
    }
}

/* Runs infer; an error gets the operation's name, and before it the hook's. */
static bool infer(struct graph *g, peat_node *n)
{
    const char *hook = g->hook;
    g->hook = NULL;
    check_types(g, n);
    if (!graph_failed(g))
        n->op->infer(n);
    g->hook = hook;
    if (!graph_failed(g))
        return shape_valid(g, n->op->name, n->value.rank, n->value.dim);
    error_prefix(&g->err, "%s", n->op->name);
    if (hook)
        error_prefix(&g->err, "%s", hook);
    return false;
}

peat_node *graph_op(struct graph *g, const struct op *op, int n_src, peat_node *const *src,
                    uint32_t optional, const void *arg, size_t arg_size)
{
    if (graph_failed(g) || !sources_ok(g, op, n_src, src, optional))
        return NULL;
    peat_node *n = node_new(g, op, n_src, src);
    if (arg && arg_size > 0)
        n->arg = memcpy(arena_alloc(g->arena, arg_size), arg, arg_size);
    if (!infer(g, n) || !value_alloc(g, n))
        return NULL;
    for (int i = 0; i < n_src; i++)
        if (src[i] && src[i]->needs_grad)
            n->needs_grad = op->backward && !g->no_grad;
    if (!g->shape_only)
        op->forward(n);
    if (graph_failed(g))
        return NULL;
    if (op->flops)
        g->flops += op->flops(n);
    return tape_push(g, n);
}

peat_node *graph_view(struct graph *g, peat_node *src, int rank, const int64_t *dim,
                      const int64_t *stride, int64_t offset)
{
    if (graph_failed(g) || !sources_ok(g, &view_op, 1, &src, 0) ||
        !shape_valid(g, "view", rank, dim))
        return NULL;
    peat_node *n = node_new(g, &view_op, 1, &src);
    n->view_of = node_root(src);
    n->view_offset = src->view_offset + offset;
    n->value = tensor_shape(src->value.dtype, rank, dim);
    memcpy(n->value.stride, stride, (size_t)rank * sizeof(*stride));
    if (src->value.data)
        n->value.data = (char *)src->value.data + offset * (int64_t)dtype_bytes(src->value.dtype);
    n->needs_grad = src->needs_grad;
    return tape_push(g, n);
}

/* Memory for the root's gradient, not cleared. */
static bool root_grad_alloc(peat_node *root)
{
    struct graph *g = root->g;
    if (root->grad.data || g->shape_only)
        return root->grad.data;
    size_t bytes = tensor_bytes(&root->value);
    root->grad = root->value;
    root->grad.data = pool_take(&g->pool, g->arena, bytes);
    root->grad_fresh = root->grad.data;
    if (!root->grad.data)
        graph_no_memory(g, "gradient", bytes);
    return root->grad_fresh;
}

/* A gradient that nothing was written to is zero. */
static void settle(peat_node *root)
{
    if (!root->grad_fresh)
        return;
    memset(root->grad.data, 0, tensor_bytes(&root->grad));
    root->grad_fresh = false;
}

/* n's part of its root's gradient; data is NULL when the root has no gradient. */
static struct tensor grad_part(peat_node *n)
{
    char *root = node_root(n)->grad.data;
    if (!n->grad.data) {
        n->grad = n->value;
        n->grad.data = root ? root + n->view_offset * (int64_t)dtype_bytes(n->value.dtype) : NULL;
    }
    return n->grad;
}

struct tensor node_grad(peat_node *n)
{
    peat_node *root = node_root(n);
    if (root_grad_alloc(root))
        settle(root);
    return grad_part(n);
}

struct tensor node_grad_whole(peat_node *n, bool *fresh)
{
    peat_node *root = node_root(n);
    /* A view that repeats nothing shows each element of its root at most once. */
    *fresh = root_grad_alloc(root) && root->grad_fresh &&
             tensor_count(&n->value) == tensor_count(&root->value);
    if (*fresh)
        root->grad_fresh = false;
    else if (root->grad.data)
        settle(root);
    return grad_part(n);
}

const void *node_rounded(peat_node *n)
{
    struct graph *g = n->g;
    peat_node *root = node_root(n);
    const int64_t count = tensor_count(&n->value);
    size_t bytes = gemm_rounded_bytes(g->team, n->value.dtype, count);
    if (bytes == 0 || g->no_grad || g->shape_only || count != tensor_count(&root->value) ||
        !tensor_contiguous(&n->value))
        return NULL;
    if (!root->rounded) {
        root->rounded = graph_scratch(g, bytes);
        if (root->rounded)
            gemm_round(g->team, root->rounded, n->value.data, count);
    }
    return root->rounded;
}

void graph_reach(struct graph *g, peat_node *loss)
{
    if (!loss)
        return;
    loss->reached = loss->needs_grad;
    for (int64_t id = loss->id; id >= 0; id--) {
        peat_node *n = g->node[id];
        for (int i = 0; n->reached && i < n->n_src; i++)
            if (n->src[i] && n->src[i]->needs_grad)
                n->src[i]->reached = true;
    }
}

/* Allocates all gradients that n's backward adds to, so that backward cannot fail half-way. */
static bool make_source_grads(peat_node *n)
{
    for (int i = 0; i < n->n_src; i++)
        if (n->src[i] && n->src[i]->needs_grad && !root_grad_alloc(node_root(n->src[i])))
            return false;
    return true;
}

/* Gives back n's memory after its last reader has run. Leaves keep theirs. */
static void give_memory(peat_node *n)
{
    struct graph *g = n->g;
    if (!g->reuse || !n->op || n->view_of)
        return;
    if (n->grad.data)
        pool_give(&g->pool, n->grad.data, tensor_bytes(&n->grad));
    if (n->value.data)
        pool_give(&g->pool, n->value.data, tensor_bytes(&n->value));
    if (n->rounded)
        pool_give(&g->pool, n->rounded,
                  gemm_rounded_bytes(g->team, n->value.dtype, tensor_count(&n->value)));
    n->grad.data = n->value.data = n->rounded = NULL;
}

static bool run_backward(peat_node *n)
{
    if (!n->reached || n->view_of || !n->grad.data)
        return true;
    settle(n);
    if (!n->op || !n->op->backward)
        return true;
    if (!make_source_grads(n))
        return false;
    n->op->backward(n);
    return !graph_failed(n->g);
}

void graph_backward(struct graph *g, peat_node *loss)
{
    if (graph_failed(g) || !loss || g->shape_only)
        return;
    if (tensor_count(&loss->value) != 1) {
        graph_fail(g, "backward: the loss must have one element");
        return;
    }
    if (!loss->needs_grad)
        return;
    struct tensor seed = node_grad(loss);
    if (!seed.data)
        return;
    tensor_set(&seed, 0, 1.0);
    graph_reach(g, loss);
    for (int64_t id = loss->id; id >= 0; id--) {
        if (!recompute_replay(g, id))
            return;
        if (!run_backward(g->node[id]))
            return;
        give_memory(g->node[id]);
    }
}

static bool all_finite(const struct tensor *t)
{
    int64_t n = t->data && t->dtype != PEAT_I32 ? tensor_count(t) : 0;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(tensor_get(t, i)))
            return false;
    return true;
}

peat_node *graph_first_nonfinite(struct graph *g, bool grads)
{
    for (int i = 0; i < g->n_node; i++) {
        peat_node *n = g->node[grads ? g->n_node - 1 - i : i];
        if (!all_finite(grads ? &n->grad : &n->value))
            return n;
    }
    return NULL;
}
