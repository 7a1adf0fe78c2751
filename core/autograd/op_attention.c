/* SPDX-License-Identifier: MIT */
/*
 * op_attention.c: fused attention, one head and one block of query rows at a time.
 *
 * A task is a (batch, head) pair. It walks over blocks of query rows (attention_walk.h); the scores
 * of a block, over all keys that it may see, are in the thread's scratch memory until the block is
 * done. The backward pass computes them again from the log-sum-exp of each row. A task writes only
 * slices of the gradients of q, k and v that belong to its pair, in block order.
 *
 * Gradients of score_add, bias and rel: each task adds into sums of its own, as large as the
 * operand's last two axes; these are then added to the operand's gradient in task order. Tasks run
 * in waves of whole batches so that the sums stay below PARTIAL_BYTES (or one batch's worth). The
 * gradient of a score_add or bias with a matrix for each pair is added to in place.
 */

#include "attention_walk.h"
#include "opkit.h"
#include "tensor/dots.h"

enum { BLOCK_LEAST = 16, BLOCK_BYTES = 1 << 18, PARTIAL_BYTES = 1 << 23 };

struct attention_arg {
    double scale;
    struct attention_mask mask; /* arrays that live as long as the graph */
};

/* A dense operand's shape with four axes; rel [1|H, n] becomes [1, 1|H, 1, n]. */
static struct tensor four_axes(const struct tensor *t, bool rel)
{
    struct tensor x = {.dtype = t->dtype, .rank = 4, .dim = {1, 1, 1, 1}, .data = t->data};
    for (int i = 0; i < t->rank; i++) {
        int to = 4 - t->rank + i;
        to = rel && to == 2 ? 1 : to;
        x.dim[to] = t->dim[i];
        x.stride[to] = t->stride[i];
    }
    return x;
}

static void check_term(peat_node *n, int which, const char *name, const int64_t want[4])
{
    if (!n->src[which])
        return;
    const struct tensor *t = &n->src[which]->value, wanted = tensor_shape(t->dtype, 4, want);
    const bool rel = which == SRC_REL;
    if (t->rank <= (rel ? 2 : 4)) {
        const struct tensor x = four_axes(t, rel);
        if (stretches_to(&x, 4, want) && (!rel || x.dim[3] == want[3]))
            return;
    }
    graph_fail(n->g, "%s of shape %s does not stretch to %s", name, shape_text(n, t),
               shape_text(n, &wanted));
}

static void attention_infer(peat_node *n)
{
    const struct tensor *q = &n->src[SRC_Q]->value, *k = &n->src[SRC_K]->value,
                        *v = &n->src[SRC_V]->value;
    bool ok = q->rank == 4 && k->rank == 4 && v->rank == 4;
    for (int i = 0; ok && i < 2; i++)
        ok = k->dim[i] == q->dim[i] && v->dim[i] == q->dim[i];
    if (!ok || k->dim[3] != q->dim[3] || v->dim[2] != k->dim[2]) {
        graph_fail(n->g, "q %s, k %s and v %s do not fit", shape_text(n, q), shape_text(n, k),
                   shape_text(n, v));
        return;
    }
    int64_t B = q->dim[0], H = q->dim[1], Tq = q->dim[2], Tk = k->dim[2];
    const int64_t dense[4] = {B, H, Tq, Tk}, rel[4] = {1, H, 1, Tq + Tk - 1};
    const int64_t out[4] = {B, Tq, H, v->dim[3]};
    check_term(n, SRC_SCORE_ADD, "score_add", dense);
    check_term(n, SRC_BIAS, "bias", dense);
    check_term(n, SRC_REL, "rel", rel);
    n->value = tensor_shape(q->dtype, 4, out);
}

/* Products over all Tq x Tk pairs, masked or not: the usual convention. */
static int64_t attention_flops(const peat_node *n)
{
    const struct tensor *q = &n->src[SRC_Q]->value, *v = &n->src[SRC_V]->value;
    int64_t pairs = q->dim[0] * q->dim[1] * q->dim[2] * v->dim[2];
    return 2 * pairs * (q->dim[3] + v->dim[3]);
}

static struct plane plane_of(const peat_node *n, int which)
{
    struct plane p = {NULL, {0}};
    if (!n->src[which])
        return p;
    struct tensor x = four_axes(&n->src[which]->value, which == SRC_REL);
    p.data = x.data;
    for (int i = 0; i < 4; i++)
        p.stride[i] = x.dim[i] == 1 ? 0 : x.stride[i];
    return p;
}

/* State that forward and backward share; q, k and v are read with their own strides. */
static struct attention attention_call(const peat_node *n)
{
    const struct attention_arg *arg = n->arg;
    struct attention c = {
        .team = n->g->team, .dtype = n->value.dtype, .scale = arg->scale, .mask = arg->mask};
    c.q = n->src[SRC_Q]->value;
    c.k = n->src[SRC_K]->value;
    c.v = n->src[SRC_V]->value;
    c.out = n->value;
    c.B = c.q.dim[0];
    c.H = c.q.dim[1];
    c.Tq = c.q.dim[2];
    c.Tk = c.k.dim[2];
    c.C = c.q.dim[3];
    c.Cv = c.v.dim[3];
    c.width = (c.Tk + LANES - 1) / LANES * LANES;
    int64_t row_bytes = at_least(c.width, 1) * (int64_t)dtype_bytes(c.dtype);
    /* Rows of a block. Products are faster for tall blocks, less so where operands are packed; but
     * under a causal mask half of the diagonal part of a block is wasted where products round, and
     * was elsewhere when the number was chosen, which decides the order of sums over queries. */
    c.rounds = c.dtype == PEAT_F32 && c.team && c.team->bf16 && dots_available();
    c.by = c.rounds ? &attention_rounded : &attention_plain;
    int64_t block = !arg->mask.causal ? BLOCK_MOST : c.rounds ? BLOCK_MOST / 4 : BLOCK_MOST / 2;
    block = at_most(block, BLOCK_BYTES / row_bytes);
    c.block = at_least(block, BLOCK_LEAST) / BLOCK_LEAST * BLOCK_LEAST;
    c.score_add = plane_of(n, SRC_SCORE_ADD);
    c.bias = plane_of(n, SRC_BIAS);
    c.rel = plane_of(n, SRC_REL);
    c.lse = n->saved;
    return c;
}

/* Allocates a block of scores per thread, for backward two; false: out of memory. */
static bool make_scratch(struct graph *g, struct attention *c)
{
    int64_t threads = g->team ? at_least(g->team->threads, 1) : 1, blocks = c->dout.data ? 2 : 1;
    c->packed_at = (size_t)(BLOCK_MOST + blocks * c->block * c->width) * dtype_bytes(c->dtype);
    c->thread_bytes = c->packed_at + (c->by->bytes ? c->by->bytes(c) : 0);
    c->scratch = graph_scratch(g, (size_t)threads * c->thread_bytes);
    return c->scratch;
}

static void attention_forward_op(peat_node *n)
{
    struct graph *g = n->g;
    struct attention c = attention_call(n);
    c.lse = n->saved = graph_scratch(g, (size_t)(c.B * c.H * c.Tq) * dtype_bytes(c.dtype));
    struct arena_mark mark = arena_mark(g->arena);
    if (c.lse && make_scratch(g, &c))
        parallel_for(g->team, c.B * c.H, attention_forward_task, &c);
    arena_rewind(g->arena, mark);
}

/* ---- whether views of one root overlap ---- */

/* The number of elements from the first to the last, both included. */
static int64_t extent(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n += (t->dim[i] - 1) * t->stride[i];
    return n;
}

/* Columns [*lo, *hi) of a row of the root that the heads of n occupy; false: the root does not have
 * rows with the heads side by side. */
static bool columns_of(const peat_node *n, int64_t *lo, int64_t *hi)
{
    const struct tensor *t = &n->value;
    int64_t row = t->stride[2];
    if (row <= 0 || t->stride[0] % row != 0)
        return false;
    *lo = n->view_offset % row;
    *hi = *lo + (t->dim[1] - 1) * t->stride[1] + t->dim[3];
    return *hi <= row;
}

/* For x and y [B,H,T,C]: slices (b,h) of one and (b',h') of the other never share memory unless
 * (b,h) = (b',h'). True for different roots, the same view, separate parts of a root, and separate
 * columns of its rows (such as q, k and v of one projection); false when in doubt. */
static bool slices_apart(const peat_node *x, const peat_node *y)
{
    const struct tensor *s = &x->value, *t = &y->value;
    if (node_root(x) != node_root(y))
        return true;
    bool same_strides = true;
    for (int i = 0; i < 4; i++)
        same_strides = same_strides && s->stride[i] == t->stride[i];
    if (same_strides && x->view_offset == y->view_offset)
        return true;
    if (x->view_offset + extent(s) <= y->view_offset ||
        y->view_offset + extent(t) <= x->view_offset)
        return true;
    int64_t a, b, c, d;
    return same_strides && columns_of(x, &a, &b) && columns_of(y, &c, &d) && (b <= c || d <= a);
}

static bool same_place(const peat_node *x, const peat_node *y)
{
    return x->view_offset == y->view_offset;
}

/* True where the three are separate views of one root and together show all of it. */
static bool slices_cover(const peat_node *x, const peat_node *y, const peat_node *z)
{
    const peat_node *root = x->view_of;
    return root && y->view_of == root && z->view_of == root && !same_place(x, y) &&
           !same_place(x, z) && !same_place(y, z) && slices_apart(x, y) && slices_apart(x, z) &&
           slices_apart(y, z) &&
           tensor_count(&x->value) + tensor_count(&y->value) + tensor_count(&z->value) ==
               tensor_count(&root->value);
}

/* ---- backward ---- */

/* Whether tasks may add to the gradients of q, k and v in place at the same time. */
static bool gradients_apart(const peat_node *n)
{
    for (int i = SRC_Q; i <= SRC_V; i++) {
        const struct tensor *t = &n->src[i]->value;
        for (int axis = 0; axis < 3; axis++)
            if (t->dim[axis] > 1 && t->stride[axis] == 0)
                return false;
        for (int j = i + 1; j <= SRC_V; j++)
            if (!slices_apart(n->src[i], n->src[j]))
                return false;
    }
    return true;
}

/* Sets the places where tasks add the gradients of q, k and v: the operands' own gradients. Three
 * parts of one projection can be fresh together; other operands only if they share no memory. */
static void targets_in_place(peat_node *n, struct tensor *const target[3], bool fresh[3])
{
    peat_node *const *src = n->src;
    bool cover = src[SRC_Q]->needs_grad && tensor_count(&src[SRC_Q]->value) > 0 &&
                 slices_cover(src[SRC_Q], src[SRC_K], src[SRC_V]);
    bool all = false;
    if (cover)
        node_grad_whole(src[SRC_Q]->view_of, &all);
    for (int i = SRC_Q; i <= SRC_V; i++) {
        const peat_node *root = node_root(src[i]);
        bool alone = root != node_root(src[(i + 1) % 3]) && root != node_root(src[(i + 2) % 3]);
        fresh[i] = all;
        if (!src[i]->needs_grad)
            continue;
        if (alone && tensor_count(&n->value) > 0)
            *target[i] = node_grad_whole(src[i], &fresh[i]);
        else
            *target[i] = node_grad(src[i]);
    }
}

/* Sets the places to zeroed memory, because tasks would overlap in the operands' gradients. */
static void targets_apart(peat_node *n, struct tensor *const target[3])
{
    for (int i = SRC_Q; i <= SRC_V; i++) {
        if (!n->src[i]->needs_grad)
            continue;
        *target[i] = tensor_shape(n->value.dtype, 4, n->src[i]->value.dim);
        target[i]->data = graph_scratch(n->g, tensor_bytes(target[i]));
        if (target[i]->data)
            memset(target[i]->data, 0, tensor_bytes(target[i]));
    }
}

static size_t partial_bytes(const struct partial *p, const struct attention *c)
{
    return (size_t)(p->rows * p->columns) * dtype_bytes(c->dtype);
}

/* Shape of an operand's sums; 0 rows when it needs no gradient. */
static struct partial partial_of(const peat_node *n, int which)
{
    struct partial p = {NULL, 0, 0};
    if (n->src[which] && n->src[which]->needs_grad) {
        struct tensor x = four_axes(&n->src[which]->value, which == SRC_REL);
        p.rows = x.dim[2];
        p.columns = x.dim[3];
    }
    return p;
}

/* Adds the sums of batches [b0, b0 + count) to the operand's gradient. */
static void add_partials(peat_node *n, int which, const struct partial *p,
                         const struct attention *c, int64_t b0, int64_t count)
{
    if (!p->sums)
        return;
    const int64_t dim[4] = {count, c->H, p->rows, p->columns};
    struct tensor sums = tensor_shape(c->dtype, 4, dim);
    sums.data = p->sums;
    struct tensor own = node_grad(n->src[which]);
    own = four_axes(&own, which == SRC_REL);
    if (own.dim[0] > 1) {
        own.data = (char *)own.data + b0 * own.stride[0] * (int64_t)dtype_bytes(c->dtype);
        own.dim[0] = count;
    }
    if (!reduce_add(n->g->team, n->g->arena, &own, &sums))
        graph_fail(n->g, "attention: out of memory");
}

/* Whether tasks may add to the gradient of score_add or bias in place: each of its elements belongs
 * to one task, and no other operand shares it. */
static bool sums_in_place(const peat_node *n, int which, const struct attention *c)
{
    const peat_node *x = n->src[which];
    if (which == SRC_REL || !x || !x->needs_grad || !tensor_contiguous(&x->value))
        return false;
    for (int i = 0; i < N_SRC; i++)
        if (i != which && n->src[i] && node_root(n->src[i]) == node_root(x))
            return false;
    const struct tensor t = four_axes(&x->value, false);
    return t.dim[0] == c->B && t.dim[1] == c->H && t.dim[2] == c->Tq && t.dim[3] == c->Tk;
}

/* Prepares the sums of one operand over waves: in separate memory or, with `own`, in its
 * gradient. */
struct wave_sums {
    int src;
    struct partial *part;
    char *own;
    bool fresh;
};

static void open_sums(peat_node *n, const struct attention *c, struct wave_sums *s, int64_t wave)
{
    if (s->part->rows == 0)
        return;
    if (sums_in_place(n, s->src, c))
        s->part->sums = s->own = node_grad_whole(n->src[s->src], &s->fresh).data;
    else
        s->part->sums = graph_scratch(n->g, (size_t)(wave * c->H) * partial_bytes(s->part, c));
}

static void begin_wave(const struct attention *c, const struct wave_sums *s, int64_t b0,
                       int64_t count)
{
    const size_t batch = (size_t)c->H * partial_bytes(s->part, c);
    if (s->own)
        s->part->sums = s->own + (size_t)b0 * batch;
    if (s->part->sums && (!s->own || s->fresh))
        memset(s->part->sums, 0, (size_t)count * batch);
}

static void backward_waves(peat_node *n, struct attention *c)
{
    struct graph *g = n->g;
    struct wave_sums sums[] = {
        {SRC_SCORE_ADD, &c->score_add_sums}, {SRC_BIAS, &c->bias_sums}, {SRC_REL, &c->rel_sums}};
    enum { SUMS = sizeof(sums) / sizeof(*sums) };
    size_t batch_bytes = 0;
    for (int i = 0; i < SUMS; i++) {
        *sums[i].part = partial_of(n, sums[i].src);
        batch_bytes += (size_t)c->H * partial_bytes(sums[i].part, c);
    }
    int64_t wave = batch_bytes ? at_least(1, (int64_t)(PARTIAL_BYTES / batch_bytes)) : c->B;
    wave = at_most(wave, c->B);
    for (int i = 0; i < SUMS; i++)
        open_sums(n, c, &sums[i], wave);
    for (int64_t b0 = 0; b0 < c->B && !graph_failed(g); b0 += wave) {
        int64_t count = at_most(wave, c->B - b0);
        for (int i = 0; i < SUMS; i++)
            begin_wave(c, &sums[i], b0, count);
        c->first = b0 * c->H;
        parallel_for(g->team, count * c->H, attention_backward_task, c);
        for (int i = 0; i < SUMS; i++)
            if (!sums[i].own)
                add_partials(n, sums[i].src, sums[i].part, c, b0, count);
    }
}

static void attention_backward(peat_node *n)
{
    struct graph *g = n->g;
    struct attention c = attention_call(n);
    bool in_place = gradients_apart(n);
    struct tensor *const target[] = {&c.dq, &c.dk, &c.dv};
    struct arena_mark mark = arena_mark(g->arena);
    c.dout = n->grad;
    if (in_place)
        targets_in_place(n, target, c.fresh);
    else
        targets_apart(n, target);
    for (int i = 0; i < N_SRC; i++)
        c.scores = c.scores || (i != SRC_V && n->src[i] && n->src[i]->needs_grad);
    if (make_scratch(g, &c))
        backward_waves(n, &c);
    for (int i = SRC_Q; i <= SRC_V && !in_place && !graph_failed(g); i++)
        if (n->src[i]->needs_grad) {
            struct tensor grad = node_grad(n->src[i]);
            tensor_add(&grad, target[i]);
        }
    arena_rewind(g->arena, mark);
}

static const struct op attention_op = {"attention", attention_infer, attention_forward_op,
                                       attention_backward, attention_flops};

/* Products need a dense last axis and rows that do not overlap. */
static peat_node *with_dense_rows(peat_graph *g, peat_node *x)
{
    if (!x || x->value.rank != 4)
        return x;
    const struct tensor *t = &x->value;
    bool dense = t->dim[3] <= 1 || t->stride[3] == 1;
    bool apart = t->dim[2] <= 1 || t->stride[2] >= t->dim[3];
    return dense && apart ? x : op_contiguous(g, x);
}

peat_node *op_attention(peat_graph *g, peat_node *q, peat_node *k, peat_node *v,
                        peat_node *score_add, peat_node *bias, peat_node *rel, double scale,
                        const struct attention_mask *mask)
{
    peat_node *src[N_SRC] = {
        with_dense_rows(g, q), with_dense_rows(g, k), with_dense_rows(g, v), score_add, bias, rel};
    struct attention_arg arg = {.scale = scale};
    if (mask)
        arg.mask = *mask;
    static const int32_t heads_first[] = {0, 2, 1, 3};
    peat_node *out =
        graph_op(graph_of(g), &attention_op, N_SRC, src, OPTIONAL_SRC, &arg, sizeof(arg));
    return out ? op_permute(g, out, 4, heads_first) : NULL;
}
