/* SPDX-License-Identifier: MIT */
/* stacks.c: layouts of operands, and products of them. */
#include "stacks.h"

#include "autograd/ops.h"
#include "tensor/loop.h"

/* The last two axes of t as the library reads them; false when neither is dense. */
static bool stack_layout(const struct tensor *t, struct stack *s)
{
    int r = t->rank - 2;
    int64_t rows = t->dim[r], cols = t->dim[r + 1];
    int64_t row_step = rows <= 1 ? at_least(cols, 1) : t->stride[r];
    int64_t col_step = cols <= 1 ? at_least(rows, 1) : t->stride[r + 1];
    *s = (struct stack){.data = t->data, .rows = rows, .cols = cols};
    if ((t->stride[r + 1] == 1 || cols <= 1) && row_step >= at_least(cols, 1)) {
        s->ld = row_step;
        return true;
    }
    s->flipped = true;
    s->ld = col_step;
    return (t->stride[r] == 1 || rows <= 1) && col_step >= at_least(rows, 1);
}

struct stack stack_flip(struct stack s)
{
    int64_t rows = s.rows;
    s.rows = s.cols;
    s.cols = rows;
    s.flipped = !s.flipped;
    return s;
}

struct stack stack_of(const struct product *p, const struct tensor *t, bool transposed)
{
    struct stack s;
    bool fits = stack_layout(t, &s);
    BUG_UNLESS(fits);
    for (int i = 0; i < t->rank - 2; i++) {
        int to = i + p->lead - (t->rank - 2);
        s.stride[to] = t->dim[i] == 1 ? 0 : t->stride[i];
    }
    return transposed ? stack_flip(s) : s;
}

peat_node *stack_readable(peat_graph *g, peat_node *a)
{
    struct stack s;
    if (!a || a->value.rank < 2 || stack_layout(&a->value, &s))
        return a;
    return op_contiguous(g, a);
}

struct gemm stack_product(peat_dtype t, struct stack dst, struct stack x, struct stack y,
                          double beta)
{
    if (dst.flipped)
        return stack_product(t, stack_flip(dst), stack_flip(y), stack_flip(x), beta);
    return (struct gemm){.dtype = t,
                         .trans_a = x.flipped,
                         .trans_b = y.flipped,
                         .m = dst.rows,
                         .n = dst.cols,
                         .k = x.cols,
                         .alpha = 1.0,
                         .beta = beta,
                         .a = x.data,
                         .b = y.data,
                         .c = dst.data,
                         .lda = x.ld,
                         .ldb = y.ld,
                         .ldc = dst.ld,
                         .a16 = x.rounded,
                         .b16 = y.rounded,
                         .lda16 = x.ld,
                         .ldb16 = y.ld};
}

bool product_shape(const struct tensor *a, const struct tensor *b, uint32_t flags,
                   struct product_shape *s)
{
    const bool ta = (flags & PEAT_TRANS_A) != 0, tb = (flags & PEAT_TRANS_B) != 0;
    if (a->rank < 2 || b->rank < 2)
        return false;
    struct tensor lead_a = *a, lead_b = *b;
    lead_a.rank -= 2;
    lead_b.rank -= 2;
    s->k = a->dim[a->rank - (ta ? 2 : 1)];
    if (s->k != b->dim[b->rank - (tb ? 1 : 2)] ||
        !shape_broadcast(&lead_a, &lead_b, &s->rank, s->dim))
        return false;
    s->dim[s->rank++] = a->dim[a->rank - (ta ? 1 : 2)];
    s->dim[s->rank++] = b->dim[b->rank - (tb ? 2 : 1)];
    return true;
}
