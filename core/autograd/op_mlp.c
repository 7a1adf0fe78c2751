/* SPDX-License-Identifier: MIT */
/*
 * op_mlp.c: two linear maps with an activation between them, a block of rows at a time.
 *
 * With u = x w1' + b1 and h = f(u), forward keeps u alone. Backward makes h again and forms the
 * gradient of u for a block of rows, while it is in the caches. Rows are cut into strips; each sums
 * the gradients of the weights over its blocks in order, and strips are added in order.
 *
 * Where products round, forward keeps h and f'(u) as bf16 instead, which is as much memory, and
 * backward makes neither again. x and the weights are rounded once for both, the gradient of y once
 * a block, and h and the gradient of u right where they are made, in the nearest cache.
 */
#include <string.h>

#include "autograd/ops.h"
#include "fetch.h"
#include "opkit.h"
#include "rows/mlp_rows.h"
#include "tensor/bf16.h"
#include "tensor/gemm.h"

enum { SRC_X, SRC_W1, SRC_B1, SRC_W2, SRC_B2, N_SRC };
enum { STRIPS = 4, STRIP_LEAST = 64, BLOCK_ROWS = 256, SUM_GRAIN = 16384 };

/* The gradient of a weight: the first strip adds to the tensor's own, the others to sums apart. */
struct weight_sum {
    char *own, *apart; /* own NULL: not wanted; apart: [strips - 1, count] */
    bool fresh;        /* own holds nothing yet                            */
    int64_t count;
};

struct mlp {
    const peat_node *n;
    int64_t size;          /* bytes of a number                        */
    int64_t rows, D, F, E; /* rows of x, and widths of x, u, y         */
    int64_t strip, block;  /* rows                                     */
    char *u;               /* [rows, F], or NULL: in scratch           */
    bf16 *h16, *slope16;   /* the same where products round: h, f'(u)  */
    char *dx;              /* [rows, D]; NULL: not wanted              */
    bool fresh;            /* dx holds nothing yet                     */
    struct weight_sum sum[N_SRC];
    bool rounds;                /* operands of products are bf16 ...                           */
    const void *rounded[N_SRC]; /* ... x, w1 and w2; NULL: products round them                 */
    char *scratch;              /* of all threads */
    int64_t thread_bytes;
};

/* An operand of products: F32 or F64, or bf16, or both. */
struct operand {
    const void *wide;
    const bf16 *narrow;
};

/* What a thread works in: [block, F], and for bf16 the gradient of y [block, E] too. */
struct room {
    char *h, *slope; /* where products round, a chunk */
    char *du;        /* forward: u, where it is not kept */
    bf16 *h16, *du16, *dy16;
};

/* Numbers that are rounded at a time, at least a row. */
enum { CHUNK = 2048 };

static bool infer(peat_node *n)
{
    const struct tensor *x = &n->src[SRC_X]->value, *w1 = &n->src[SRC_W1]->value;
    const struct tensor *b1 = &n->src[SRC_B1]->value, *w2 = &n->src[SRC_W2]->value;
    const struct tensor *b2 = &n->src[SRC_B2]->value;
    bool ok = operand_types(n, 0) && x->rank >= 1 && w1->rank == 2 && w2->rank == 2 &&
              b1->rank == 1 && b2->rank == 1;
    ok = ok && w1->dim[1] == x->dim[x->rank - 1] && b1->dim[0] == w1->dim[0] &&
         w2->dim[1] == w1->dim[0] && b2->dim[0] == w2->dim[0];
    if (!ok) {
        graph_fail(n->g, "input %s and weights %s, %s with their biases do not fit",
                   shape_text(n, x), shape_text(n, w1), shape_text(n, w2));
        return false;
    }
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, x->dim, sizeof(dim));
    dim[x->rank - 1] = w2->dim[0];
    n->value = tensor_shape(n->g->dtype, x->rank, dim);
    return true;
}

/* What forward keeps, or NULL. */
static void find_kept(struct mlp *m, void *saved)
{
    if (!m->rounds) {
        m->u = saved;
    } else if (saved) {
        m->h16 = saved;
        m->slope16 = m->h16 + m->rows * m->F;
    }
}

static struct mlp mlp_of(const peat_node *n)
{
    struct mlp m = {.n = n, .size = (int64_t)dtype_bytes(n->value.dtype)};
    m.F = n->src[SRC_W1]->value.dim[0];
    m.D = n->src[SRC_W1]->value.dim[1];
    m.E = n->src[SRC_W2]->value.dim[0];
    m.rows = 1;
    for (int i = 0; i < n->value.rank - 1; i++)
        m.rows *= n->value.dim[i];
    m.strip = (m.rows + STRIPS - 1) / STRIPS;
    m.strip = m.strip < STRIP_LEAST ? STRIP_LEAST : m.strip;
    m.rounds = gemm_rounded_bytes(n->g->team, n->value.dtype, 1) > 0;
    m.block = m.strip < BLOCK_ROWS ? m.strip : BLOCK_ROWS;
    find_kept(&m, n->saved);
    return m;
}

static int64_t rows_of_chunk(const struct mlp *m)
{
    return m->F > 0 && m->F < CHUNK ? CHUNK / m->F : 1;
}

/* Of h as it is made: a chunk where it is rounded then. */
static int64_t rows_of_h(const struct mlp *m)
{
    return m->rounds ? rows_of_chunk(m) : m->block;
}

static bool make_scratch(struct mlp *m)
{
    const struct team *team = m->n->g->team;
    int64_t threads = team && team->threads > 1 ? team->threads : 1;
    m->thread_bytes = (rows_of_h(m) + m->block) * m->F * m->size;
    m->thread_bytes += m->rounds ? rows_of_h(m) * m->F * m->size : 0;
    m->thread_bytes += m->rounds ? m->block * (2 * m->F + m->E) * (int64_t)sizeof(bf16) : 0;
    m->scratch = graph_scratch(m->n->g, (size_t)(threads * m->thread_bytes));
    return m->scratch;
}

static struct room own_room(const struct mlp *m)
{
    struct room own = {.h = m->scratch + parallel_thread() * m->thread_bytes};
    own.du = own.h + rows_of_h(m) * m->F * m->size;
    if (m->rounds) {
        own.slope = own.du + m->block * m->F * m->size;
        own.h16 = (bf16 *)(void *)(own.slope + rows_of_h(m) * m->F * m->size);
        own.du16 = own.h16 + m->block * m->F;
        own.dy16 = own.du16 + m->block * m->F;
    }
    return own;
}

static char *rows_at(const struct mlp *m, const void *data, int64_t row, int64_t width)
{
    return (char *)(uintptr_t)data + row * width * m->size;
}

/* For every block, forward and backward. */
static void round_operands(struct mlp *m)
{
    for (int i = SRC_X; i <= SRC_W2; i++)
        m->rounded[i] = i != SRC_B1 ? node_rounded(m->n->src[i]) : NULL;
}

static struct operand rows_of_x(const struct mlp *m, int64_t row)
{
    const bf16 *x16 = m->rounded[SRC_X];
    return (struct operand){rows_at(m, m->n->src[SRC_X]->value.data, row, m->D),
                            x16 ? x16 + row * m->D : NULL};
}

/* c [r,n] = a [r,k] b' + bias with b [n,k], or beta c + a b with b [k,n]; b is weight w */
static void rows_product(const struct mlp *m, int64_t r, int64_t n, int64_t k, struct operand a,
                         int w, bool trans, const struct tensor *bias, double beta, void *c)
{
    struct gemm p = {.dtype = m->n->value.dtype,
                     .rounds = true,
                     .trans_b = trans,
                     .m = r,
                     .n = n,
                     .k = k,
                     .alpha = 1.0,
                     .beta = beta,
                     .a = a.wide,
                     .b = m->n->src[w]->value.data,
                     .c = c,
                     .lda = k,
                     .ldb = trans ? k : n,
                     .ldc = n,
                     .bias = bias ? bias->data : NULL,
                     .a16 = a.narrow,
                     .lda16 = k,
                     .b16 = m->rounded[w],
                     .ldb16 = trans ? k : n};
    gemm_one(m->n->g->team, &p);
}

static enum mlp_activation activation_of(const struct mlp *m)
{
    return *(const enum mlp_activation *)m->n->arg;
}

/* The next rows of a block of `rows` from row i of it on, which are rounded at a time. */
static int64_t chunk_at(const struct mlp *m, int64_t i, int64_t rows)
{
    return rows - i < rows_of_chunk(m) ? rows - i : rows_of_chunk(m);
}

/* h = f(u) of a block of rows from `row` on, and f'(u) where it is kept */
static struct operand activate_rounded(const struct mlp *m, const struct room *own, const char *u,
                                       int64_t row, int64_t rows)
{
    const struct mlp_rows *of = mlp_rows_of(m->n->value.dtype);
    const bool keeps = m->h16;
    bf16 *h16 = keeps ? m->h16 + row * m->F : own->h16;
    for (int64_t i = 0, r; i < rows; i += r) {
        r = chunk_at(m, i, rows);
        const int64_t at = i * m->F, count = r * m->F;
        if (keeps) {
            of->slopes(activation_of(m), rows_at(m, u, i, m->F), own->h, own->slope, count);
            bf16_round(m->slope16 + row * m->F + at, (const float *)(void *)own->slope, count);
        } else {
            of->activate(activation_of(m), rows_at(m, u, i, m->F), own->h, NULL, count);
        }
        bf16_round(h16 + at, (const float *)(void *)own->h, count);
    }
    return (struct operand){.narrow = h16};
}

/* u = x w1' + b1, h = f(u) */
static struct operand hidden_rows(const struct mlp *m, const struct room *own, int64_t row,
                                  int64_t rows)
{
    const struct mlp_rows *of = mlp_rows_of(m->n->value.dtype);
    const struct tensor *bias = &m->n->src[SRC_B1]->value;
    const struct operand x = rows_of_x(m, row);
    char *u = m->u ? rows_at(m, m->u, row, m->F) : own->du;
    rows_product(m, rows, m->F, m->D, x, SRC_W1, true, m->rounds ? bias : NULL, 0.0, u);
    if (m->rounds)
        return activate_rounded(m, own, u, row, rows);
    of->activate_biased(activation_of(m), u, bias->data, own->h, rows, m->F);
    return (struct operand){.wide = own->h};
}

/* y = h w2' + b2 */
static void forward_block(void *ctx, int64_t begin, int64_t end)
{
    const struct mlp *m = ctx;
    const struct room own = own_room(m);
    int64_t r = end - begin;
    rows_product(m, r, m->E, m->F, hidden_rows(m, &own, begin, r), SRC_W2, true,
                 &m->n->src[SRC_B2]->value, 0.0, rows_at(m, m->n->value.data, begin, m->E));
}

static void forward(peat_node *n)
{
    struct graph *g = n->g;
    struct mlp m = mlp_of(n);
    if (n->needs_grad) {
        n->saved = graph_scratch(g, (size_t)(m.rows * m.F * m.size));
        if (!n->saved)
            return;
        find_kept(&m, n->saved);
    }
    round_operands(&m);
    struct arena_mark mark = arena_mark(g->arena);
    if (make_scratch(&m))
        parallel_ranges(g->team, m.rows, m.block, forward_block, &m);
    arena_rewind(g->arena, mark);
}

/* Where a strip sums the gradient of src[i], and whether its first block writes there. */
static char *strip_sum(const struct mlp *m, int i, int64_t strip, bool *fresh)
{
    const struct weight_sum *s = &m->sum[i];
    *fresh = strip > 0 || s->fresh;
    return strip == 0 ? s->own : s->apart + (strip - 1) * s->count * m->size;
}

/* dw [F,D] += dy' x over the rows of a block */
static void add_weight_grad(const struct mlp *m, int w, int64_t strip, bool first, int64_t r,
                            struct operand dy, struct operand x)
{
    const struct tensor *weight = &m->n->src[w]->value;
    int64_t n = weight->dim[0], k = weight->dim[1];
    bool fresh;
    if (!m->sum[w].own)
        return;
    char *dw = strip_sum(m, w, strip, &fresh);
    struct gemm p = {.dtype = weight->dtype,
                     .rounds = true,
                     .trans_a = true,
                     .m = n,
                     .n = k,
                     .k = r,
                     .alpha = 1.0,
                     .beta = first && fresh ? 0.0 : 1.0,
                     .a = dy.wide,
                     .b = x.wide,
                     .c = dw,
                     .lda = n,
                     .ldb = k,
                     .ldc = k,
                     .a16 = dy.narrow,
                     .b16 = x.narrow,
                     .lda16 = n,
                     .ldb16 = k};
    gemm_one(m->n->g->team, &p);
}

/* db [n] += the rows of dy summed; b is bias b */
static void add_bias_grad(const struct mlp *m, int b, int64_t strip, bool first, int64_t r,
                          const char *dy)
{
    const int64_t n = m->sum[b].count;
    bool fresh;
    if (!m->sum[b].own)
        return;
    char *db = strip_sum(m, b, strip, &fresh);
    if (first && fresh)
        memset(db, 0, (size_t)(n * m->size));
    mlp_rows_of(m->n->value.dtype)->sum_rows(db, dy, r, n);
}

/* Asks for n numbers that are read soon. */
static void fetch(const bf16 *x, int64_t n)
{
    fetch_bytes(x, n * (int64_t)sizeof(*x), false);
}

/* du *= f'(u) of a block of rows from `row` on, and b1's gradient while it is near */
static void differentiate_rounded(const struct mlp *m, const struct room *own, int64_t strip,
                                  bool first, int64_t row, int64_t rows)
{
    for (int64_t i = 0, r; i < rows; i += r) {
        r = chunk_at(m, i, rows);
        char *du = rows_at(m, own->du, i, m->F);
        fetch(m->h16 + (row + i) * m->F, r * m->F);
        fetch(m->slope16 + (row + i + r) * m->F, chunk_at(m, i + r, rows) * m->F);
        bf16_scale((float *)(void *)du, m->slope16 + (row + i) * m->F, r * m->F);
        bf16_round(own->du16 + i * m->F, (const float *)(void *)du, r * m->F);
        add_bias_grad(m, SRC_B1, strip, first && i == 0, r, du);
    }
}

static struct operand rows_of_dy(const struct mlp *m, const struct room *own, int64_t row,
                                 int64_t rows)
{
    struct operand dy = {rows_at(m, m->n->grad.data, row, m->E), own->dy16};
    if (m->rounds)
        bf16_round(own->dy16, dy.wide, rows * m->E);
    return dy;
}

/* h = f(u), du *= f'(u) and the gradients of biases, of a block of rows from `row` on */
static struct operand differentiate(const struct mlp *m, const struct room *own, int64_t strip,
                                    bool first, int64_t row, int64_t rows)
{
    if (m->rounds) {
        differentiate_rounded(m, own, strip, first, row, rows);
        return (struct operand){.narrow = m->h16 + row * m->F};
    }
    mlp_rows_of(m->n->value.dtype)
        ->activate(activation_of(m), rows_at(m, m->u, row, m->F), own->h, own->du, rows * m->F);
    add_bias_grad(m, SRC_B1, strip, first, rows, own->du);
    return (struct operand){.wide = own->h};
}

/* h = f(u):  du = (dy w2) f'(u), dx += du w1; dw1, db1 from du and x; dw2, db2 from dy and h */
static void backward_strip(void *ctx, int64_t begin, int64_t end)
{
    const struct mlp *m = ctx;
    const struct room own = own_room(m);
    const struct operand du = {own.du, own.du16};
    for (int64_t row = begin; row < end; row += m->block) {
        int64_t r = end - row < m->block ? end - row : m->block, strip = begin / m->strip;
        const bool first = row == begin;
        const struct operand dy = rows_of_dy(m, &own, row, r);
        rows_product(m, r, m->F, m->E, dy, SRC_W2, false, NULL, 0.0, own.du);
        const struct operand h = differentiate(m, &own, strip, first, row, r);
        if (m->dx)
            rows_product(m, r, m->D, m->F, du, SRC_W1, false, NULL, m->fresh ? 0.0 : 1.0,
                         rows_at(m, m->dx, row, m->D));
        add_weight_grad(m, SRC_W2, strip, first, r, dy, h);
        add_bias_grad(m, SRC_B2, strip, first, r, dy.wide);
        add_weight_grad(m, SRC_W1, strip, first, r, du, rows_of_x(m, row));
    }
}

/* Memory for the sums of src[i]; the gradient itself for the first strip. */
static void begin_sum(struct mlp *m, int i, int64_t strips)
{
    peat_node *w = m->n->src[i];
    struct weight_sum *s = &m->sum[i];
    if (!w->needs_grad)
        return;
    s->own = node_grad_whole(w, &s->fresh).data;
    s->count = tensor_count(&w->value);
    if (strips > 1)
        s->apart = graph_scratch(m->n->g, (size_t)((strips - 1) * s->count * m->size));
}

static void add_sums(const struct mlp *m, const struct weight_sum *s, int64_t strips)
{
    if (!s->own || strips < 2)
        return;
    struct strip_sums all = {s->own, s->apart, strips - 1, s->count};
    parallel_ranges(m->n->g->team, s->count, SUM_GRAIN, mlp_rows_of(m->n->value.dtype)->add_strips,
                    &all);
}

static void backward(peat_node *n)
{
    struct graph *g = n->g;
    struct mlp m = mlp_of(n);
    if (m.rows == 0)
        return;
    int64_t strips = (m.rows + m.strip - 1) / m.strip;
    round_operands(&m);
    struct arena_mark mark = arena_mark(g->arena);
    if (n->src[SRC_X]->needs_grad)
        m.dx = node_grad_whole(n->src[SRC_X], &m.fresh).data;
    for (int i = SRC_W1; i < N_SRC; i++)
        begin_sum(&m, i, strips);
    if (make_scratch(&m) && !graph_failed(g)) {
        parallel_ranges(g->team, m.rows, m.strip, backward_strip, &m);
        for (int i = SRC_W1; i < N_SRC; i++)
            add_sums(&m, &m.sum[i], strips);
    }
    arena_rewind(g->arena, mark);
    graph_done_with(g, n->saved, (size_t)(m.rows * m.F * m.size));
}

static int64_t flops(const peat_node *n)
{
    struct mlp m = mlp_of(n);
    return 2 * m.rows * m.F * (m.D + m.E);
}

peat_node *op_mlp(peat_graph *pg, peat_node *x, peat_node *w1, peat_node *b1, peat_node *w2,
                  peat_node *b2, enum mlp_activation f)
{
    static const struct op op = {"mlp", infer, forward, backward, flops, GRADS_APART};
    struct graph *g = graph_of(pg);
    peat_node *src[] = {x, w1, b1, w2, b2};
    for (int i = 0; i < N_SRC; i++)
        src[i] = src[i] ? op_contiguous(pg, src[i]) : NULL;
    peat_node *n = graph_op(g, &op, N_SRC, src, 0, &f, sizeof(f));
    if (n && n->needs_grad) {
        struct mlp m = mlp_of(n);
        g->value_bytes += m.rows * m.F * m.size; /* what forward keeps */
    }
    return n;
}
