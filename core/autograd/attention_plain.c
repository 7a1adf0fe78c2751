/* SPDX-License-Identifier: MIT */
/* attention_plain.c: products of fused attention on operands where they stand. */
#include "attention_walk.h"
#include "tensor/gemm.h"

static struct matrix transposed(struct matrix x)
{
    x.trans = !x.trans;
    return x;
}

static struct matrix scores_at(const struct attention_tile *t, void *scores)
{
    return (struct matrix){scores, t->call->width, false};
}

static struct matrix outputs_at(const struct attention_tile *t, void *outputs)
{
    return (struct matrix){outputs, at_least(t->out_step, 1), false};
}

/* Rows of the tile's queries, and of the keys that they see. */
static struct matrix queries(const struct attention_tile *t, const struct tensor *x)
{
    return attention_rows_from(x, t, t->i0);
}

static struct matrix keys(const struct attention_tile *t, const struct tensor *x)
{
    return attention_rows_from(x, t, t->j0);
}

/* c [m,n] = alpha a [m,k] b [k,n] + c, without c where it is fresh */
static void product(const struct attention *call, int64_t m, int64_t n, int64_t k, double alpha,
                    struct matrix a, struct matrix b, bool fresh, struct matrix c)
{
    struct gemm p = {.dtype = call->dtype,
                     .trans_a = a.trans,
                     .trans_b = b.trans,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = alpha,
                     .beta = fresh ? 0.0 : 1.0,
                     .a = a.data,
                     .b = b.data,
                     .c = c.data,
                     .lda = a.step,
                     .ldb = b.step,
                     .ldc = c.step};
    gemm_one(call->team, &p);
}

static bool is_last(const struct attention_tile *t)
{
    return t->i0 + t->rows == t->call->Tq;
}

/* The last block comes first: where it sees all keys, as under a causal mask, it can write fresh
 * gradients of k and v instead of adding to zeros. */
static bool writes(const struct attention_tile *t, int which)
{
    return t->call->fresh[which] && is_last(t) && t->cols == t->call->Tk;
}

static void *begin(const struct attention_tile *first)
{
    const struct attention *c = first->call;
    const struct tensor *grad[] = {[SRC_K] = &c->dk, [SRC_V] = &c->dv};
    int64_t lo, hi;
    if (c->Tq == 0)
        return NULL;
    key_range(c, (c->Tq - 1) / c->block * c->block, c->Tq - 1, &lo, &hi);
    for (int i = SRC_K; i <= SRC_V && hi - lo < c->Tk; i++)
        if (c->fresh[i])
            attention_clear_rows(grad[i], first, 0, c->Tk);
    return NULL;
}

static void scores(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->rows, t->cols, c->C, c->scale, queries(t, &c->q), transposed(keys(t, &c->k)),
            true, scores_at(t, t->p));
}

static void outputs(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->rows, c->Cv, t->cols, 1.0, scores_at(t, t->p), keys(t, &c->v), true,
            outputs_at(t, t->out));
}

static void dv(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->cols, c->Cv, t->rows, 1.0, transposed(scores_at(t, t->p)), outputs_at(t, t->dout),
            writes(t, SRC_V), keys(t, &c->dv));
}

static void weights(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->rows, t->cols, c->Cv, 1.0, outputs_at(t, t->dout), transposed(keys(t, &c->v)),
            true, scores_at(t, t->ds));
}

static void dq(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->rows, c->C, t->cols, c->scale, scores_at(t, t->ds), keys(t, &c->k),
            c->fresh[SRC_Q], queries(t, &c->dq));
}

static void dk(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(c, t->cols, c->C, t->rows, c->scale, transposed(scores_at(t, t->ds)), queries(t, &c->q),
            writes(t, SRC_K), keys(t, &c->dk));
}

const struct attention_products attention_plain = {.begin = begin,
                                                   .scores = scores,
                                                   .outputs = outputs,
                                                   .dv = dv,
                                                   .weights = weights,
                                                   .dq = dq,
                                                   .dk = dk,
                                                   .upwards = true};
