/* SPDX-License-Identifier: MIT */
/*
 * op_mlp.c: two linear maps with an activation between them, a block of rows at a time.
 *
 * With u = x w1' + b1 and h = f(u), or h = f(g) v with u = [g v] where f is a gate, forward keeps
 * only u. Backward computes h again and the
 * gradient of u for a block of rows, while it is in the caches. Rows are cut into strips; each sums
 * the gradients of the weights over its blocks in order, and strips are added in order.
 *
 * Where products round, forward keeps h and its slopes by u as bf16 instead, and backward
 * computes neither again. x and the weights are rounded once for both passes, the gradient of y
 * once a block, and h and the gradient of u right after they are computed, in the nearest cache.
 */

#include "fetch.h"
#include "opkit.h"
#include "rows/mlp_rows.h"
#include "stacks.h"

enum { SRC_X, SRC_W1, SRC_B1, SRC_W2, SRC_B2, N_SRC };
enum { STRIPS = 4, STRIP_LEAST = 64, BLOCK_ROWS = 256, SUM_GRAIN = 16384 };

/* The gradient of a weight: the first strip adds to the tensor's own gradient, the others to
 * separate sums. */
struct weight_sum {
    char *own, *apart; /* own NULL: not needed; apart: [strips - 1, count] */
    bool fresh;        /* own is not cleared yet                           */
    int64_t count;
};

struct mlp {
    const peat_node *n;
    int64_t size;               /* bytes of a number                        */
    int64_t rows, D, U, F, E;   /* rows of x; widths of x, u, h and y       */
    int64_t strip, block;       /* rows of a strip, and of a block          */
    int64_t chunk;              /* rows of h that are computed at a time    */
    char *u;                    /* [rows, U] u, or NULL: in scratch         */
    bf16 *h16, *slope16;        /* the same where products round: h and its slopes */
    char *dx;                   /* [rows, D]; NULL: not needed              */
    bool fresh;                 /* dx is not cleared yet                    */
    bool rounds;                /* operands of products are bf16            */
    const bf16 *rounded[N_SRC]; /* rounded x, w1 and w2; NULL: products round them */
    struct weight_sum sum[N_SRC];
    char *scratch; /* scratch memory of all threads */
    int64_t thread_bytes;
};

/* A block of rows, and the thread's memory for it: h [block, F] and the gradient of u [block, U],
 * or where products round a chunk of h and of its slopes, and the gradient of y [block, E]. */
struct row_block {
    const struct mlp *m;
    int64_t row, rows, strip;
    bool first; /* it is the first block of its strip */
    char *h, *slope;
    char *du; /* forward: u, where it is not kept */
    bf16 *h16, *du16, *dy16;
};

/* Number of elements that are rounded at a time, at least a row. */
enum { CHUNK = 2048 };

static bool is_bias_of(const peat_node *b, const struct tensor *w)
{
    return !b || (b->value.rank == 1 && b->value.dim[0] == w->dim[0]);
}

static void mlp_infer(peat_node *n)
{
    const struct tensor *x = &n->src[SRC_X]->value, *w1 = &n->src[SRC_W1]->value;
    const struct tensor *w2 = &n->src[SRC_W2]->value;
    const int64_t gates = mlp_is_gated(*(const enum mlp_activation *)n->arg) ? 2 : 1;
    bool ok = x->rank >= 1 && w1->rank == 2 && w2->rank == 2;
    ok = ok && w1->dim[1] == x->dim[x->rank - 1] && gates * w2->dim[1] == w1->dim[0] &&
         is_bias_of(n->src[SRC_B1], w1) && is_bias_of(n->src[SRC_B2], w2);
    if (ok)
        n->value = shape_with(x, x->rank - 1, w2->dim[0]);
    else
        graph_fail(n->g, "input %s and weights %s, %s with their biases do not fit",
                   shape_text(n, x), shape_text(n, w1), shape_text(n, w2));
}

/* The memory that forward keeps, or NULL. */
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
    m.U = n->src[SRC_W1]->value.dim[0];
    m.D = n->src[SRC_W1]->value.dim[1];
    m.F = n->src[SRC_W2]->value.dim[1];
    m.E = n->src[SRC_W2]->value.dim[0];
    m.rows = 1;
    for (int i = 0; i < n->value.rank - 1; i++)
        m.rows *= n->value.dim[i];
    m.strip = (m.rows + STRIPS - 1) / STRIPS;
    m.strip = m.strip < STRIP_LEAST ? STRIP_LEAST : m.strip;
    m.block = m.strip < BLOCK_ROWS ? m.strip : BLOCK_ROWS;
    m.rounds = gemm_rounded_bytes(n->g->team, n->value.dtype, 1) > 0;
    m.chunk = !m.rounds ? m.block : m.F > 0 && m.F < CHUNK ? CHUNK / m.F : 1;
    find_kept(&m, n->saved);
    return m;
}

/* Bytes that forward keeps: u, or h and its slopes as bf16. */
static size_t kept_bytes(const struct mlp *m)
{
    return (size_t)m->rows *
           (size_t)(m->rounds ? (m->F + m->U) * (int64_t)sizeof(bf16) : m->U * m->size);
}

static bool make_scratch(struct mlp *m)
{
    const struct team *team = m->n->g->team;
    const int64_t threads = team && team->threads > 1 ? team->threads : 1;
    const int64_t narrow = m->rounds ? (int64_t)sizeof(bf16) : 0;
    const int64_t chunk = m->chunk * (m->F + (m->rounds ? m->U : 0));
    m->thread_bytes = (chunk + m->block * m->U) * m->size;
    m->thread_bytes += m->block * (m->F + m->U + m->E) * narrow;
    m->scratch = graph_scratch(m->n->g, (size_t)(threads * m->thread_bytes));
    return m->scratch;
}

static struct row_block block_at(const struct mlp *m, int64_t row, int64_t end)
{
    struct row_block b = {.m = m, .row = row, .rows = end - row < m->block ? end - row : m->block};
    b.h = m->scratch + parallel_thread() * m->thread_bytes;
    b.du = b.h + m->chunk * m->F * m->size;
    if (m->rounds) {
        b.slope = b.du + m->block * m->U * m->size;
        b.h16 = (bf16 *)(void *)(b.slope + m->chunk * m->U * m->size);
        b.du16 = b.h16 + m->block * m->F;
        b.dy16 = b.du16 + m->block * m->U;
    }
    return b;
}

static void round_operands(struct mlp *m)
{
    for (int i = SRC_X; i <= SRC_W2; i++)
        m->rounded[i] = i != SRC_B1 ? node_rounded(m->n->src[i]) : NULL;
}

static char *rows_at(const struct mlp *m, const void *data, int64_t row, int64_t width)
{
    return (char *)(uintptr_t)data + row * width * m->size;
}

/* A dense matrix as numbers of the operation's type, as bf16, or both. */
static struct stack dense(const void *data, const bf16 *rounded, int64_t rows, int64_t cols)
{
    return (struct stack){.data = (char *)(uintptr_t)data,
                          .rounded = rounded,
                          .rows = rows,
                          .cols = cols,
                          .ld = cols};
}

/* The block's rows of x, and a weight [out, in]. */
static struct stack x_of(const struct row_block *b)
{
    const struct mlp *m = b->m;
    const bf16 *x16 = m->rounded[SRC_X];
    return dense(rows_at(m, m->n->src[SRC_X]->value.data, b->row, m->D),
                 x16 ? x16 + b->row * m->D : NULL, b->rows, m->D);
}

static struct stack weight_of(const struct mlp *m, int w)
{
    const struct tensor *t = &m->n->src[w]->value;
    return dense(t->data, m->rounded[w], t->dim[0], t->dim[1]);
}

/* to = beta to + x y + bias; NULL: no bias */
static void multiply(const struct mlp *m, struct stack to, struct stack x, struct stack y,
                     const peat_node *bias, double beta)
{
    struct gemm p = stack_product(m->n->value.dtype, to, x, y, beta);
    p.rounds = true;
    p.bias = bias ? bias->value.data : NULL;
    gemm_one(m->n->g->team, &p);
}

static enum mlp_activation activation_of(const struct mlp *m)
{
    return *(const enum mlp_activation *)m->n->arg;
}

/* The rows of the chunk that begins at row i of the block. */
static int64_t chunk_at(const struct row_block *b, int64_t i)
{
    return b->rows - i < b->m->chunk ? b->rows - i : b->m->chunk;
}

/* h as bf16, and its slopes where they are kept */
static struct stack activate_rounded(const struct row_block *b, const char *u)
{
    const struct mlp *m = b->m;
    const struct mlp_rows *rows = mlp_rows_of(m->n->value.dtype);
    const bool keeps = m->h16;
    bf16 *h16 = keeps ? m->h16 + b->row * m->F : b->h16;
    for (int64_t i = 0; i < b->rows; i += chunk_at(b, i)) {
        const int64_t n = chunk_at(b, i);
        const char *from = rows_at(m, u, i, m->U);
        if (keeps) {
            rows->slopes(activation_of(m), from, b->h, b->slope, n, m->F);
            bf16_round(m->slope16 + (b->row + i) * m->U, (const float *)(void *)b->slope, n * m->U);
        } else {
            rows->activate(activation_of(m), from, b->h, NULL, n, m->F);
        }
        bf16_round(h16 + i * m->F, (const float *)(void *)b->h, n * m->F);
    }
    return dense(NULL, h16, b->rows, m->F);
}

/* u = x w1' + b1, and h */
static struct stack hidden_rows(const struct row_block *b)
{
    const struct mlp *m = b->m;
    const peat_node *bias = m->n->src[SRC_B1];
    const struct mlp_rows *rows = mlp_rows_of(m->n->value.dtype);
    char *u = m->u ? rows_at(m, m->u, b->row, m->U) : b->du;
    multiply(m, dense(u, NULL, b->rows, m->U), x_of(b), stack_flip(weight_of(m, SRC_W1)),
             m->rounds ? bias : NULL, 0.0);
    if (m->rounds)
        return activate_rounded(b, u);
    if (bias)
        rows->activate_biased(activation_of(m), u, bias->value.data, b->h, b->rows, m->F);
    else
        rows->activate(activation_of(m), u, b->h, NULL, b->rows, m->F);
    return dense(b->h, NULL, b->rows, m->F);
}

/* y = h w2' + b2 */
static void forward_block(void *ctx, int64_t begin, int64_t end)
{
    const struct mlp *m = ctx;
    const struct row_block b = block_at(m, begin, end);
    const struct stack y = dense(rows_at(m, m->n->value.data, begin, m->E), NULL, b.rows, m->E);
    multiply(m, y, hidden_rows(&b), stack_flip(weight_of(m, SRC_W2)), m->n->src[SRC_B2], 0.0);
}

static void mlp_forward(peat_node *n)
{
    struct graph *g = n->g;
    struct mlp m = mlp_of(n);
    if (n->needs_grad) {
        n->saved = graph_scratch(g, kept_bytes(&m));
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

/* The place where the block's strip sums the gradient of src[i]; *fresh: the block must
 * write it. */
static char *strip_sum(const struct row_block *b, int i, bool *fresh)
{
    const struct weight_sum *s = &b->m->sum[i];
    *fresh = b->first && (b->strip > 0 || s->fresh);
    return b->strip == 0 ? s->own : s->apart + (b->strip - 1) * s->count * b->m->size;
}

/* dw [out, in] += dy' x over the rows of a block */
static void add_weight_grad(const struct row_block *b, int w, struct stack dy, struct stack x)
{
    bool fresh;
    if (!b->m->sum[w].own)
        return;
    char *dw = strip_sum(b, w, &fresh);
    multiply(b->m, dense(dw, NULL, dy.cols, x.cols), stack_flip(dy), x, NULL, fresh ? 0.0 : 1.0);
}

/* db [n] += the sum of `rows` rows of dy from row i of the block on; `of` is the bias */
static void add_bias_grad(const struct row_block *b, int of, int64_t i, int64_t rows,
                          const char *dy)
{
    const struct mlp *m = b->m;
    const int64_t n = m->sum[of].count;
    bool fresh;
    if (!m->sum[of].own)
        return;
    char *db = strip_sum(b, of, &fresh);
    if (i == 0 && fresh)
        memset(db, 0, (size_t)(n * m->size));
    mlp_rows_of(m->n->value.dtype)->sum_rows(db, dy, rows, n);
}

/* Prefetches n numbers. */
static void mlp_fetch(const bf16 *x, int64_t n)
{
    fetch_bytes(x, n * (int64_t)sizeof(*x), false);
}

/* The gradient of h becomes that of u, and b1's while it is in the cache. */
static void differentiate_rounded(const struct row_block *b)
{
    const struct mlp *m = b->m;
    for (int64_t i = 0, rows; i < b->rows; i += rows) {
        rows = chunk_at(b, i);
        const int64_t at = (b->row + i) * m->U, count = rows * m->U;
        char *du = rows_at(m, b->du, i, m->U);
        mlp_fetch(m->h16 + (b->row + i) * m->F, rows * m->F);
        mlp_fetch(m->slope16 + at + count, chunk_at(b, i + rows) * m->U);
        for (int64_t r = 0; m->U > m->F && r < rows; r++)
            memcpy(rows_at(m, du, r, m->U) + m->F * m->size, rows_at(m, du, r, m->U),
                   (size_t)(m->F * m->size));
        bf16_scale((float *)(void *)du, m->slope16 + at, count);
        bf16_round(b->du16 + i * m->U, (const float *)(void *)du, count);
        add_bias_grad(b, SRC_B1, i, rows, du);
    }
}

static struct stack dy_of(const struct row_block *b)
{
    const struct mlp *m = b->m;
    const char *dy = rows_at(m, m->n->grad.data, b->row, m->E);
    if (m->rounds)
        bf16_round(b->dy16, (const float *)(const void *)dy, b->rows * m->E);
    return dense(dy, b->dy16, b->rows, m->E);
}

/* Returns h. The gradient of h, in the first columns of du, becomes that of u; and b1's. */
static struct stack differentiate(const struct row_block *b)
{
    const struct mlp *m = b->m;
    if (m->rounds) {
        differentiate_rounded(b);
        return dense(NULL, m->h16 + b->row * m->F, b->rows, m->F);
    }
    mlp_rows_of(m->n->value.dtype)
        ->activate(activation_of(m), rows_at(m, m->u, b->row, m->U), b->h, b->du, b->rows, m->F);
    add_bias_grad(b, SRC_B1, 0, b->rows, b->du);
    return dense(b->h, NULL, b->rows, m->F);
}

/* dh = dy w2, du = dh by the slopes of h, dx += du w1; dw1, db1 from du and x; dw2, db2 from dy and
 * h */
static void backward_block(const struct row_block *b)
{
    const struct mlp *m = b->m;
    const struct stack du = dense(b->du, b->du16, b->rows, m->U), dy = dy_of(b);
    struct stack dh = dense(b->du, NULL, b->rows, m->F);
    dh.ld = m->U;
    multiply(m, dh, dy, weight_of(m, SRC_W2), NULL, 0.0);
    const struct stack h = differentiate(b);
    if (m->dx)
        multiply(m, dense(rows_at(m, m->dx, b->row, m->D), NULL, b->rows, m->D), du,
                 weight_of(m, SRC_W1), NULL, m->fresh ? 0.0 : 1.0);
    add_weight_grad(b, SRC_W2, dy, h);
    add_bias_grad(b, SRC_B2, 0, b->rows, dy.data);
    add_weight_grad(b, SRC_W1, du, x_of(b));
}

static void backward_strip(void *ctx, int64_t begin, int64_t end)
{
    const struct mlp *m = ctx;
    for (int64_t row = begin; row < end; row += m->block) {
        struct row_block b = block_at(m, row, end);
        b.strip = begin / m->strip;
        b.first = row == begin;
        backward_block(&b);
    }
}

/* Memory for the sums of src[i]; for the first strip the gradient itself. */
static void begin_sum(struct mlp *m, int i, int64_t strips)
{
    peat_node *w = m->n->src[i];
    struct weight_sum *s = &m->sum[i];
    if (!w || !w->needs_grad)
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

static void mlp_backward(peat_node *n)
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
    graph_done_with(g, n->saved, kept_bytes(&m));
}

static int64_t mlp_flops(const peat_node *n)
{
    struct mlp m = mlp_of(n);
    return 2 * m.rows * (m.D * m.U + m.F * m.E);
}

peat_node *op_mlp(peat_graph *pg, peat_node *x, peat_node *w1, peat_node *b1, peat_node *w2,
                  peat_node *b2, enum mlp_activation f)
{
    static const struct op op = {"mlp", mlp_infer, mlp_forward, mlp_backward, mlp_flops};
    struct graph *g = graph_of(pg);
    peat_node *src[] = {x, w1, b1, w2, b2};
    for (int i = 0; i < N_SRC; i++)
        src[i] = src[i] ? op_contiguous(pg, src[i]) : NULL;
    peat_node *n = graph_op(g, &op, N_SRC, src, 1 << SRC_B1 | 1 << SRC_B2, &f, sizeof(f));
    if (n && n->needs_grad) {
        struct mlp m = mlp_of(n);
        g->value_bytes += (int64_t)kept_bytes(&m);
    }
    return n;
}
