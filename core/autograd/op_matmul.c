/* SPDX-License-Identifier: MIT */
/* op_matmul.c: matmul and linear. */

#include "opkit.h"
#include "stacks.h"

/* True where all axes of t but the last are one axis of constant stride. */
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
    struct axes moves, repeats; /* leading axes along which dst moves, and along which it repeats */
};

/* Runs the products that end in one matrix of dst, in order; only the first may overwrite it. */
static void run_one(const struct batch *b, int64_t tile, const struct team *team)
{
    int64_t size = (int64_t)dtype_bytes(b->p->n->value.dtype);
    for (int64_t r = 0; r < b->repeats.count; r++) {
        struct stack d = b->dst, x = b->x, y = b->y;
        struct stack *s[] = {&d, &x, &y};
        for (int k = 0; k < 3; k++)
            s[k]->data += size * (axes_offset(&b->moves, tile, s[k]->stride) +
                                  axes_offset(&b->repeats, r, s[k]->stride));
        struct gemm g = stack_product(b->p->n->value.dtype, d, x, y, r == 0 ? b->beta : 1.0);
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

static void infer_matmul(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *b = &n->src[1]->value;
    const bool ta = (flags_of(n) & PEAT_TRANS_A) != 0, tb = (flags_of(n) & PEAT_TRANS_B) != 0;
    struct product_shape s;
    if (product_shape(a, b, flags_of(n), &s))
        n->value = tensor_shape(n->g->dtype, s.rank, s.dim);
    else if (a->rank < 2 || b->rank < 2)
        graph_fail(n->g, "operands must be matrices, not %s and %s", shape_text(n, a),
                   shape_text(n, b));
    else
        graph_fail(n->g, "shapes %s%s and %s%s do not fit", shape_text(n, a),
                   ta ? " transposed" : "", shape_text(n, b), tb ? " transposed" : "");
}

bool matmul_folds(const peat_node *a, const peat_node *b, uint32_t flags)
{
    for (int i = 0; i < b->value.rank - 2; i++)
        if (b->value.dim[i] != 1)
            return false;
    return a->value.rank > 2 && (flags & PEAT_TRANS_A) == 0 && folds(&a->value);
}

/* The axes of c = a b, where a and c (values or gradients) are folded if they can be. */
static struct product matmul_plan(const peat_node *n, struct tensor *a, struct tensor *b,
                                  struct tensor *c)
{
    struct product p = {.n = n};
    if (matmul_folds(n->src[0], n->src[1], flags_of(n))) {
        *a = folded(a);
        *c = folded(c);
        memmove(b->dim, b->dim + b->rank - 2, 2 * sizeof(int64_t));
        memmove(b->stride, b->stride + b->rank - 2, 2 * sizeof(int64_t));
        b->rank = 2;
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

static void infer_linear(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *w = &n->src[1]->value;
    const struct tensor *b = n->src[2] ? &n->src[2]->value : NULL;
    if (x->rank >= 1 && w->rank == 2 && x->dim[x->rank - 1] == w->dim[1] &&
        (!b || (b->rank == 1 && b->dim[0] == w->dim[0])))
        n->value = shape_with(x, x->rank - 1, w->dim[0]);
    else
        graph_fail(n->g, "input %s, weight %s and bias %s do not fit", shape_text(n, x),
                   shape_text(n, w), b ? shape_text(n, b) : "none");
}

/* All rows of t as one matrix. rounded: t as bf16, or NULL. */
static struct stack matmul_rows_of(const struct tensor *t, const void *rounded)
{
    const struct tensor rows = folded(t);
    struct stack s = stack_of(&(struct product){0}, &rows, false);
    s.rounded = rounded;
    return s;
}

static struct stack source_rows(peat_node *x)
{
    return matmul_rows_of(&x->value, node_rounded(x));
}

/* dst = x y + dst beta, in bf16 if the team rounds */
static struct gemm linear_product(const peat_node *n, struct stack dst, struct stack x,
                                  struct stack y, double beta)
{
    struct gemm p = stack_product(n->value.dtype, dst, x, y, beta);
    p.rounds = true;
    return p;
}

/* y = x w' + b */
static void forward_linear(peat_node *n)
{
    const struct stack x = source_rows(n->src[0]), w = source_rows(n->src[1]);
    struct gemm p = linear_product(n, matmul_rows_of(&n->value, NULL), x, stack_flip(w), 0.0);
    p.bias = n->src[2] ? n->src[2]->value.data : NULL;
    if (!graph_failed(n->g))
        gemm_run(team_of(n), &p);
}

/* dw += dy' x: a long sum over rows */
static void weight_gradient(peat_node *n, struct stack dy)
{
    struct graph *g = n->g;
    bool fresh;
    const struct tensor dw = node_grad_whole(n->src[1], &fresh);
    const struct gemm p = linear_product(n, matmul_rows_of(&dw, NULL), stack_flip(dy),
                                         source_rows(n->src[0]), fresh ? 0.0 : 1.0);
    struct arena_mark mark = arena_mark(g->arena);
    size_t bytes = gemm_long_bytes(&p);
    void *scratch = bytes > 0 ? graph_scratch(g, bytes) : NULL;
    if (!graph_failed(g))
        gemm_run_long(g->team, &p, scratch);
    arena_rewind(g->arena, mark);
}

/* dx += dy w */
static void input_gradient(peat_node *n, struct stack dy)
{
    bool fresh;
    const struct tensor dx = node_grad_whole(n->src[0], &fresh);
    const struct gemm p =
        linear_product(n, matmul_rows_of(&dx, NULL), dy, source_rows(n->src[1]), fresh ? 0.0 : 1.0);
    gemm_run(team_of(n), &p);
}

/* dy as bf16, for the two products that read it; NULL: only one product reads it, or products do
 * not round. */
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
    const struct tensor dy = folded(&n->grad);
    source_rows(n->src[0]); /* rounded before the mark, because rounded operands are kept */
    source_rows(n->src[1]);
    struct arena_mark mark = arena_mark(n->g->arena);
    const struct stack rows = matmul_rows_of(&dy, rounded_gradient(n, &dy));
    if (wants_grad(n, 0) && !graph_failed(n->g))
        input_gradient(n, rows);
    if (wants_grad(n, 1) && !graph_failed(n->g))
        weight_gradient(n, rows);
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
    /* A NULL bias here means that its copy failed, not that it was left out. */
    if (b && !src[2])
        return NULL;
    return graph_op(graph_of(g), &op, 3, src, 4, NULL, 0);
}
