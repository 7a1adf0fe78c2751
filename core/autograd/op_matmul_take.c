/* SPDX-License-Identifier: MIT */
/*
 * op_matmul_take.c: take_last of a product that is never stored whole.
 *
 * One matrix of the product is computed at a time, in memory that stays in the cache, and its
 * elements are read before the next. The products are those of matmul, and their sums are added up
 * in matmul's order, so both give the same bits.
 */

#include "opkit.h"
#include "stacks.h"
#include "take.h"

enum { SRC_A, SRC_B, SRC_INDEX };

/* Number of rows whose elements are read together. */
enum { BLOCK_ROWS = 32 };

static uint32_t flags_of(const peat_node *n)
{
    return *(const uint32_t *)n->arg;
}

/* The product: op(a) op(b) = c [lead..., rows, length]. */
struct taken_product {
    const peat_node *n;
    struct product p;
    struct axes lead;
    int64_t rows, length, columns;
    struct stack a, b;                   /* values of a and b */
    int64_t index_stride[PEAT_MAX_RANK]; /* strides over lead and rows  */
    char *scratch;                       /* [slots] matrices of c */
    size_t slot_bytes;
    int64_t slots, first; /* in backward, slot i has matrix `first + i` */
};

/* t: the operand's value or gradient */
static struct stack operand(const struct taken_product *c, int which, const struct tensor *t)
{
    const uint32_t flag = which == SRC_A ? PEAT_TRANS_A : PEAT_TRANS_B;
    return stack_of(&c->p, t, (flags_of(c->n) & flag) != 0);
}

static struct taken_product call_of(const peat_node *n)
{
    struct product_shape s;
    const struct tensor *a = &n->src[SRC_A]->value, *b = &n->src[SRC_B]->value;
    const struct tensor *index = &n->src[SRC_INDEX]->value;
    struct taken_product c = {.n = n, .p = {.n = n, .lead = n->value.rank - 2}};
    product_shape(a, b, flags_of(n), &s);
    c.rows = s.dim[s.rank - 2];
    c.length = s.dim[s.rank - 1];
    c.columns = n->value.dim[n->value.rank - 1];
    memcpy(c.p.dim, n->value.dim, sizeof(c.p.dim));
    c.lead = axes_all(c.p.lead, c.p.dim);
    c.a = operand(&c, SRC_A, a);
    c.b = operand(&c, SRC_B, b);
    const struct tensor wide = tensor_broadcast_to(index, n->value.rank, n->value.dim);
    memcpy(c.index_stride, wide.stride, sizeof(c.index_stride));
    return c;
}

static struct stack matrix_of(const struct taken_product *c, struct stack s, int64_t i)
{
    s.data += axes_offset(&c->lead, i, s.stride) * (int64_t)dtype_bytes(c->n->value.dtype);
    return s;
}

/* c's matrix in a slot. */
static struct stack in_slot(const struct taken_product *c, int64_t slot)
{
    return (struct stack){.data = c->scratch + (size_t)slot * c->slot_bytes,
                          .rows = c->rows,
                          .cols = c->length,
                          .ld = at_least(c->length, 1)};
}

/* The state of one thread. */
static int64_t slots_of(const struct taken_product *c)
{
    const struct team *team = team_of(c->n);
    return c->lead.count < MANY_PRODUCTS || !team || team->threads < 1 ? 1 : team->threads;
}

/* Allocates the slots; false: out of memory. */
static bool make_room(struct taken_product *c)
{
    enum { LINE = 64 };
    const size_t bytes = dtype_bytes(c->n->value.dtype);
    c->slots = slots_of(c);
    c->slot_bytes = ((size_t)(c->rows * c->length) * bytes + LINE) / LINE * LINE;
    c->scratch = graph_scratch(c->n->g, (size_t)c->slots * c->slot_bytes);
    return c->scratch;
}

/* ---- taking ---- */

/* Rows of matrix i of y and of the matrix that they are read from. */
struct rows_of {
    const struct taken_product *c;
    int64_t matrix, slot;
    const struct tensor *y;
};

static struct take_block block_of(const struct rows_of *r, int64_t begin, int64_t end)
{
    const struct taken_product *c = r->c;
    const int64_t bytes = (int64_t)dtype_bytes(r->y->dtype), *index = c->index_stride;
    const int row = c->p.lead;
    return (struct take_block){
        .rows = end - begin,
        .a = in_slot(c, r->slot).data + begin * c->length * bytes,
        .y = (char *)r->y->data +
             (axes_offset(&c->lead, r->matrix, r->y->stride) + begin * r->y->stride[row]) * bytes,
        .index = (const int32_t *)c->n->src[SRC_INDEX]->value.data +
                 axes_offset(&c->lead, r->matrix, index) + begin * index[row],
        .a_step = c->length * bytes,
        .y_step = r->y->stride[row] * bytes,
        .index_step = index[row],
    };
}

static void pick_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct rows_of *r = ctx;
    const struct take_block b = block_of(r, begin, end);
    take_pick(r->y->dtype, &b, r->c->length, r->c->columns, true);
}

static void scatter_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct rows_of *r = ctx;
    const struct take_block b = block_of(r, begin, end);
    memset(b.a, 0, (size_t)(b.rows * b.a_step));
    take_scatter(r->y->dtype, &b, r->c->columns);
}

/* ---- forward ---- */

static void matmul_take_infer(peat_node *n)
{
    const struct tensor *index = &n->src[SRC_INDEX]->value;
    struct product_shape s;
    product_shape(&n->src[SRC_A]->value, &n->src[SRC_B]->value, flags_of(n), &s);
    s.dim[s.rank - 1] = index->dim[index->rank - 1];
    n->value = tensor_shape(n->g->dtype, s.rank, s.dim);
}

static void forward_matrix(void *ctx, int64_t i)
{
    const struct taken_product *c = ctx;
    const struct team *team = team_of(c->n);
    const int64_t slot = c->slots == 1 ? 0 : parallel_thread();
    const struct stack to = in_slot(c, slot), a = matrix_of(c, c->a, i), b = matrix_of(c, c->b, i);
    const struct gemm g = stack_product(c->n->value.dtype, to, a, b, 0.0);
    gemm_run(team, &g);
    parallel_ranges(team, c->rows, BLOCK_ROWS, pick_rows,
                    &(struct rows_of){c, i, slot, &c->n->value});
}

/* y_ij = c[i, index_ij], c = op(a) op(b) */
static void matmul_take_forward(peat_node *n)
{
    struct taken_product c = call_of(n);
    struct arena_mark mark = arena_mark(n->g->arena);
    if (indices_valid(n, &n->src[SRC_INDEX]->value, c.length) && tensor_count(&n->value) > 0 &&
        make_room(&c)) {
        if (c.slots > 1)
            parallel_for(team_of(n), c.lead.count, forward_matrix, &c);
        else
            for (int64_t i = 0; i < c.lead.count; i++)
                forward_matrix(&c, i);
    }
    arena_rewind(n->g->arena, mark);
}

/* ---- backward ---- */

/* The gradient of an operand that is to be computed, op(da) or op(db). */
struct gradient {
    bool wanted, fresh, apart; /* apart: each matrix of c adds to another part of it */
    struct stack to;
};

struct backward {
    struct taken_product c;
    struct gradient of[2];
};

static struct gradient gradient_of(const struct taken_product *c, int which)
{
    struct gradient d = {.wanted = wants_grad(c->n, which), .apart = true};
    if (!d.wanted)
        return d;
    const struct tensor to = node_grad_whole(c->n->src[which], &d.fresh);
    d.to = operand(c, which, &to);
    for (int i = 0; i < c->p.lead; i++)
        d.apart = d.apart && (d.to.stride[i] != 0 || c->p.dim[i] == 1);
    return d;
}

/* Whether matrix i is the first of the matrices that add to the same part of s. */
static bool comes_first(const struct taken_product *c, const struct stack *s, int64_t i)
{
    for (int axis = c->p.lead - 1; axis >= 0; axis--) {
        if (s->stride[axis] == 0 && i % c->p.dim[axis] != 0)
            return false;
        i /= c->p.dim[axis];
    }
    return true;
}

/* op(da) += dc op(b)', op(db) += op(a)' dc for matrix i */
static void add_gradient(const struct backward *w, int which, int64_t i)
{
    const struct taken_product *c = &w->c;
    const struct gradient *d = &w->of[which];
    const struct stack dc = in_slot(c, i - c->first), to = matrix_of(c, d->to, i);
    const struct stack a = stack_flip(matrix_of(c, c->a, i)), b = stack_flip(matrix_of(c, c->b, i));
    const double beta = d->fresh && comes_first(c, &d->to, i) ? 0.0 : 1.0;
    const struct gemm g = which == SRC_A ? stack_product(c->n->value.dtype, to, dc, b, beta)
                                         : stack_product(c->n->value.dtype, to, a, dc, beta);
    gemm_run(team_of(c->n), &g);
}

/* Adds to the gradients of matrix i: to those that no other matrix adds to (apart), or to those
 * that several matrices share. */
static void add_gradients(const struct backward *w, bool apart, int64_t i)
{
    for (int which = SRC_A; which <= SRC_B; which++)
        if (w->of[which].wanted && w->of[which].apart == apart)
            add_gradient(w, which, i);
}

/* dc[i, index_ij] += dy_ij, and the products that do not depend on other matrices. */
static void backward_matrix(void *ctx, int64_t slot)
{
    const struct backward *w = ctx;
    const struct taken_product *c = &w->c;
    parallel_ranges(team_of(c->n), c->rows, BLOCK_ROWS, scatter_rows,
                    &(struct rows_of){c, c->first + slot, slot, &c->n->grad});
    add_gradients(w, true, c->first + slot);
}

/* y_ij = c[i, index_ij]: gradients to which several matrices add get their sums in order. */
static void matmul_take_backward(peat_node *n)
{
    if (tensor_count(&n->value) == 0)
        return;
    struct backward w = {.c = call_of(n)};
    struct taken_product *c = &w.c;
    for (int which = SRC_A; which <= SRC_B; which++)
        w.of[which] = gradient_of(c, which);
    struct arena_mark mark = arena_mark(n->g->arena);
    for (bool room = make_room(c); room && c->first < c->lead.count; c->first += c->slots) {
        const int64_t left = c->lead.count - c->first, count = left < c->slots ? left : c->slots;
        parallel_for(team_of(n), count, backward_matrix, &w);
        for (int64_t i = c->first; i < c->first + count; i++)
            add_gradients(&w, false, i);
    }
    arena_rewind(n->g->arena, mark);
}

static int64_t matmul_take_flops(const peat_node *n)
{
    struct product_shape s;
    product_shape(&n->src[SRC_A]->value, &n->src[SRC_B]->value, flags_of(n), &s);
    const struct tensor c = tensor_shape(n->value.dtype, s.rank, s.dim);
    return 2 * tensor_count(&c) * s.k;
}

/* ---- whether this path is used ---- */

/* Each matrix of the product gives one matrix of the result, and gradients of a and b do not share
 * memory. */
static bool goes_by_matrix(const peat_node *a, const peat_node *b, uint32_t flags,
                           const peat_node *index)
{
    struct product_shape s;
    if (!a || !b || !index || node_root(a) == node_root(b) || index->value.rank < 1 ||
        !product_shape(&a->value, &b->value, flags, &s) || index->value.rank > s.rank ||
        matmul_folds(a, b, flags))
        return false;
    for (int i = 0; i < index->value.rank - 1; i++) {
        const int64_t dim = index->value.dim[i];
        if (dim != 1 && dim != s.dim[i + s.rank - index->value.rank])
            return false;
    }
    return true;
}

peat_node *op_matmul_take(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags,
                          peat_node *index)
{
    static const struct op op = {"matmul_take",           matmul_take_infer, matmul_take_forward,
                                 matmul_take_backward,    matmul_take_flops, .unread = UNREAD_SELF,
                                 .index = 1u << SRC_INDEX};
    peat_node *src[] = {stack_readable(g, a), stack_readable(g, b), op_contiguous(g, index)};
    if (!goes_by_matrix(src[SRC_A], src[SRC_B], flags, src[SRC_INDEX]))
        return op_take_last(g, op_matmul(g, src[SRC_A], src[SRC_B], flags), src[SRC_INDEX]);
    return graph_op(graph_of(g), &op, 3, src, 0, &flags, sizeof(flags));
}
