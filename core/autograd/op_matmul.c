/* SPDX-License-Identifier: MIT */
/* op_matmul.c: matmul and linear. */
#include <string.h>

#include "autograd/ops.h"
#include "opkit.h"
#include "stacks.h"
#include "tensor/gemm.h"
#include "tensor/loop.h"

/* All but the last axis of t are one axis of even step. */
static bool folds(const struct tensor *t)
{
    int last = t->rank - 1;
    int64_t length = 1, step = 0;
    if (t->dim[last] > 1 && t->stride[last] != 1)
        return false;
    for (int i = last - 1; i >= 0; i--) {
        if (t->dim[i] == 1)
            continue;
        if (step != 0 && t->stride[i] != length * step)
            return false;
        step = step == 0 ? t->stride[i] : step;
        length *= t->dim[i];
    }
    return step == 0 || step >= t->dim[last];
}

/* t as one matrix of all its rows. */
static struct tensor folded(const struct tensor *t)
{
    int last = t->rank - 1;
    struct tensor m = {.dtype = t->dtype, .rank = 2, .data = t->data};
    m.dim[0] = 1;
    m.dim[1] = t->dim[last];
    m.stride[1] = t->stride[last];
    for (int i = last - 1; i >= 0; i--) {
        if (m.dim[0] == 1)
            m.stride[0] = t->stride[i];
        m.dim[0] *= t->dim[i];
    }
    return m;
}

struct batch {
    const struct product *p;
    struct stack dst, x, y;
    double beta;
    struct axes moves, repeats; /* leading axes along which dst moves, repeats */
};

/* The products that end in one matrix of dst, in order; only the first may write over it. */
static void run_one(const struct batch *b, int64_t tile, const struct team *team)
{
    int64_t size = (int64_t)dtype_bytes(b->p->n->value.dtype);
    for (int64_t r = 0; r < b->repeats.count; r++) {
        struct stack d = b->dst, x = b->x, y = b->y;
        struct stack *s[] = {&d, &x, &y};
        for (int k = 0; k < 3; k++)
            s[k]->data += size * (axes_offset(&b->moves, tile, s[k]->stride) +
                                  axes_offset(&b->repeats, r, s[k]->stride));
        struct gemm g = stack_product(b->p, &d, &x, &y, r == 0 ? b->beta : 1.0);
        gemm_run(team, &g);
    }
}

static void run_tile(void *ctx, int64_t tile)
{
    const struct batch *b = ctx;
    run_one(b, tile, b->p->n->g->team);
}

static void run_all(const struct product *p, struct stack dst, struct stack x, struct stack y,
                    double beta)
{
    const struct team *team = p->n->g->team;
    struct batch b = {p, dst, x, y, beta, {0}, {0}};
    axes_split(p->lead, p->dim, dst.stride, &b.moves, &b.repeats);
    if (b.moves.count >= MANY_PRODUCTS)
        parallel_for(team, b.moves.count, run_tile, &b);
    else
        for (int64_t i = 0; i < b.moves.count; i++)
            run_one(&b, i, team);
}

/* --- matmul ------------------------------------------------------------------------------ */

static uint32_t flags_of(const peat_node *n)
{
    return *(const uint32_t *)n->arg;
}

static bool infer_matmul(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *b = &n->src[1]->value;
    const bool ta = (flags_of(n) & PEAT_TRANS_A) != 0, tb = (flags_of(n) & PEAT_TRANS_B) != 0;
    struct product_shape s;
    if (!operand_types(n, 0))
        return false;
    if (product_shape(a, b, flags_of(n), &s)) {
        n->value = tensor_shape(n->g->dtype, s.rank, s.dim);
        return true;
    }
    if (a->rank < 2 || b->rank < 2)
        graph_fail(n->g, "operands must be matrices, not %s and %s", shape_text(n, a),
                   shape_text(n, b));
    else
        graph_fail(n->g, "shapes %s%s and %s%s do not fit", shape_text(n, a),
                   ta ? " transposed" : "", shape_text(n, b), tb ? " transposed" : "");
    return false;
}

bool matmul_folds(const peat_node *a, const peat_node *b, uint32_t flags)
{
    for (int i = 0; i < b->value.rank - 2; i++)
        if (b->value.dim[i] != 1)
            return false;
    return a->value.rank > 2 && (flags & PEAT_TRANS_A) == 0 && folds(&a->value);
}

/* c = a b with the value or the gradient of each. */
static struct product matmul_plan(const peat_node *n, struct tensor *a, struct tensor *b,
                                  struct tensor *c)
{
    struct product p = {.n = n};
    if (matmul_folds(n->src[0], n->src[1], flags_of(n))) {
        *a = folded(a);
        *c = folded(c);
        struct tensor flat = *b;
        flat.rank = 2;
        memcpy(flat.dim, b->dim + b->rank - 2, 2 * sizeof(int64_t));
        memcpy(flat.stride, b->stride + b->rank - 2, 2 * sizeof(int64_t));
        *b = flat;
        return p;
    }
    p.lead = n->value.rank - 2;
    memcpy(p.dim, n->value.dim, sizeof(p.dim));
    return p;
}

/* c = op(a) op(b) */
static void forward_matmul(peat_node *n)
{
    struct tensor a = n->src[0]->value, b = n->src[1]->value, c = n->value;
    struct product p = matmul_plan(n, &a, &b, &c);
    run_all(&p, stack_of(&p, &c, false), stack_of(&p, &a, (flags_of(n) & PEAT_TRANS_A) != 0),
            stack_of(&p, &b, (flags_of(n) & PEAT_TRANS_B) != 0), 0.0);
}

/* c = op(a) op(b):  op(da) += dc op(b)', op(db) += op(a)' dc */
static void backward_matmul(peat_node *n)
{
    bool ta = (flags_of(n) & PEAT_TRANS_A) != 0, tb = (flags_of(n) & PEAT_TRANS_B) != 0;
    for (int i = 0; i < 2; i++) {
        if (!wants_grad(n, i) || tensor_count(&n->value) == 0)
            continue;
        bool fresh;
        struct tensor to = node_grad_whole(n->src[i], &fresh);
        struct tensor a = i == 0 ? to : n->src[0]->value;
        struct tensor b = i == 1 ? to : n->src[1]->value;
        double beta = fresh ? 0.0 : 1.0;
        struct tensor dc = n->grad;
        struct product p = matmul_plan(n, &a, &b, &dc);
        struct stack sa = stack_of(&p, &a, ta), sb = stack_of(&p, &b, tb);
        struct stack sc = stack_of(&p, &dc, false);
        if (i == 0)
            run_all(&p, sa, sc, stack_flip(sb), beta);
        else
            run_all(&p, sb, stack_flip(sa), sc, beta);
    }
}

static int64_t flops_matmul(const peat_node *n)
{
    const struct tensor *a = &n->src[0]->value;
    return 2 * tensor_count(&n->value) *
           a->dim[a->rank - ((flags_of(n) & PEAT_TRANS_A) != 0 ? 2 : 1)];
}

peat_node *op_matmul(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags)
{
    static const struct op op = {"matmul",        infer_matmul, forward_matmul,
                                 backward_matmul, flops_matmul, .unread = UNREAD_SELF};
    peat_node *src[] = {stack_readable(g, a), stack_readable(g, b)};
    return graph_op(graph_of(g), &op, 2, src, 0, &flags, sizeof(flags));
}

/* --- linear ------------------------------------------------------------------------------ */

static bool infer_linear(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *w = &n->src[1]->value;
    const struct tensor *b = n->src[2] ? &n->src[2]->value : NULL;
    if (!operand_types(n, 0))
        return false;
    if (x->rank < 1 || w->rank != 2 || x->dim[x->rank - 1] != w->dim[1] ||
        (b && (b->rank != 1 || b->dim[0] != w->dim[0]))) {
        graph_fail(n->g, "input %s, weight %s and bias %s do not fit", shape_text(n, x),
                   shape_text(n, w), b ? shape_text(n, b) : "none");
        return false;
    }
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, x->dim, sizeof(dim));
    dim[x->rank - 1] = w->dim[0];
    n->value = tensor_shape(n->g->dtype, x->rank, dim);
    return true;
}

/* y = x w' + b */
static void forward_linear(peat_node *n)
{
    struct product p = {.n = n, .rounds = true};
    struct tensor x = folded(&n->src[0]->value), y = folded(&n->value);
    const void *x16 = node_rounded(n->src[0]), *w16 = node_rounded(n->src[1]);
    struct stack sx = stack_of(&p, &x, false), sy = stack_of(&p, &y, false);
    struct stack sw = stack_of(&p, &n->src[1]->value, true);
    struct gemm g = stack_product(&p, &sy, &sx, &sw, 0.0);
    g.bias = n->src[2] ? n->src[2]->value.data : NULL;
    g.a16 = x16;
    g.lda16 = g.lda;
    g.b16 = w16;
    g.ldb16 = g.ldb;
    if (!graph_failed(n->g))
        gemm_run(team_of(n), &g);
}

/* dw += dy' x: a long sum over rows. dy16: dy rounded, or NULL */
static void weight_gradient(peat_node *n, const struct tensor *dy, const void *dy16)
{
    struct graph *g = n->g;
    struct product p = {.n = n, .rounds = true};
    bool fresh;
    struct tensor dw = node_grad_whole(n->src[1], &fresh), x = folded(&n->src[0]->value);
    struct stack sdw = stack_of(&p, &dw, false), sx = stack_of(&p, &x, false);
    struct stack sdy = stack_flip(stack_of(&p, dy, false));
    struct gemm product = stack_product(&p, &sdw, &sdy, &sx, fresh ? 0.0 : 1.0);
    product.a16 = dy16;
    product.lda16 = product.lda;
    product.b16 = node_rounded(n->src[0]);
    product.ldb16 = product.ldb;
    struct arena_mark mark = arena_mark(g->arena);
    size_t bytes = gemm_long_bytes(&product);
    void *scratch = bytes > 0 ? graph_scratch(g, bytes) : NULL;
    if (!graph_failed(g))
        gemm_run_long(g->team, &product, scratch);
    arena_rewind(g->arena, mark);
}

/* dx += dy w */
static void input_gradient(peat_node *n, const struct tensor *dy, const void *dy16)
{
    struct product p = {.n = n, .rounds = true};
    bool fresh;
    struct tensor full = node_grad_whole(n->src[0], &fresh), dx = folded(&full);
    struct stack sdx = stack_of(&p, &dx, false), sdy = stack_of(&p, dy, false);
    struct stack sw = stack_of(&p, &n->src[1]->value, false);
    struct gemm product = stack_product(&p, &sdx, &sdy, &sw, fresh ? 0.0 : 1.0);
    product.a16 = dy16;
    product.lda16 = product.lda;
    product.b16 = node_rounded(n->src[1]);
    product.ldb16 = product.ldb;
    gemm_run(team_of(n), &product);
}

/* dy as bf16, for the two products that take it; NULL: products don't round, or there is one. */
static const void *rounded_gradient(peat_node *n, const struct tensor *dy)
{
    size_t bytes = gemm_rounded_bytes(team_of(n), dy->dtype, tensor_count(dy));
    if (bytes == 0 || !wants_grad(n, 0) || !wants_grad(n, 1) || !tensor_contiguous(dy))
        return NULL;
    void *dy16 = graph_scratch(n->g, bytes);
    if (dy16)
        gemm_round(team_of(n), dy16, dy->data, tensor_count(dy));
    return dy16;
}

/* y = x w' + b:  dx += dy w, dw += dy' x, db += dy summed over rows */
static void backward_linear(peat_node *n)
{
    struct tensor dy = folded(&n->grad);
    node_rounded(n->src[0]); /* for good, so before the mark */
    node_rounded(n->src[1]);
    struct arena_mark mark = arena_mark(n->g->arena);
    const void *dy16 = rounded_gradient(n, &dy);
    if (wants_grad(n, 0) && !graph_failed(n->g))
        input_gradient(n, &dy, dy16);
    if (wants_grad(n, 1) && !graph_failed(n->g))
        weight_gradient(n, &dy, dy16);
    arena_rewind(n->g->arena, mark);
    if (wants_grad(n, 2)) {
        struct tensor db = node_grad(n->src[2]);
        add_reduced(n->g, &db, &dy);
    }
}

static int64_t flops_linear(const peat_node *n)
{
    return 2 * tensor_count(&n->value) * n->src[1]->value.dim[1];
}

peat_node *op_linear(peat_graph *g, peat_node *x, peat_node *w, peat_node *b)
{
    static const struct op op = {"linear",        infer_linear, forward_linear,
                                 backward_linear, flops_linear, .unread = UNREAD_SELF};
    if (x && x->value.rank > 0 && !folds(&x->value))
        x = op_contiguous(g, x);
    peat_node *src[] = {x, stack_readable(g, w), b ? op_contiguous(g, b) : NULL};
    /* A bias that failed to be copied is not a missing one. */
    if (b && !src[2])
        return NULL;
    return graph_op(graph_of(g), &op, 3, src, 4, NULL, 0);
}
