/* SPDX-License-Identifier: MIT */
/* attention_plain.c: products of fused attention on operands in place. */
#include "attention_walk.h"

/* The tile's scores or their gradients, as a matrix [rows, cols]. */
static struct stack scores_at(const struct attention_tile *t, void *scores)
{
    return (struct stack){.data = scores, .rows = t->rows, .cols = t->cols, .ld = t->call->width};
}

static struct stack outputs_at(const struct attention_tile *t, void *outputs)
{
    return (struct stack){
        .data = outputs, .rows = t->rows, .cols = t->call->Cv, .ld = at_least(t->out_step, 1)};
}

/* The rows of the tile's queries, and of the keys that its queries see. */
static struct stack queries(const struct attention_tile *t, const struct tensor *x)
{
    return attention_rows_from(x, t, t->i0, t->rows);
}

static struct stack keys(const struct attention_tile *t, const struct tensor *x)
{
    return attention_rows_from(x, t, t->j0, t->cols);
}

/* c += alpha a b, or c = alpha a b with `fresh`. scores: which of a and c has a number for each
 * query and key, and so nothing beyond the diagonal of a causal mask. */
static void product(const struct attention_tile *t, enum lower_operand scores, double alpha,
                    struct stack a, struct stack b, bool fresh, struct stack c)
{
    const struct attention *call = t->call;
    struct gemm p = stack_product(call->dtype, c, a, b, fresh ? 0.0 : 1.0);
    p.alpha = alpha;
    if (call->mask.causal)
        p.lower = (struct lower){scores, t->i0 + call->mask.offset - t->j0};
    gemm_one(call->team, &p);
}

/* Whether this block writes the fresh gradient of k or v. Backward begins with the last block,
 * which writes it if it sees all keys, as under a causal mask. */
static bool writes(const struct attention_tile *t, int which)
{
    const struct attention *c = t->call;
    return c->fresh[which] && t->i0 + t->rows == c->Tq && t->cols == c->Tk;
}

/* Clears the fresh gradients of k and v that no block writes as a whole. */
static void *plain_begin(const struct attention_tile *first)
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
    product(t, LOWER_C, c->scale, queries(t, &c->q), stack_flip(keys(t, &c->k)), true,
            scores_at(t, t->p));
}

static void outputs(const struct attention_tile *t)
{
    product(t, LOWER_A, 1.0, scores_at(t, t->p), keys(t, &t->call->v), true, outputs_at(t, t->out));
}

static void dv(const struct attention_tile *t)
{
    product(t, LOWER_A, 1.0, stack_flip(scores_at(t, t->p)), outputs_at(t, t->dout),
            writes(t, SRC_V), keys(t, &t->call->dv));
}

static void weights(const struct attention_tile *t)
{
    product(t, LOWER_C, 1.0, outputs_at(t, t->dout), stack_flip(keys(t, &t->call->v)), true,
            scores_at(t, t->ds));
}

static void dq(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(t, LOWER_A, c->scale, scores_at(t, t->ds), keys(t, &c->k), c->fresh[SRC_Q],
            queries(t, &c->dq));
}

static void dk(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    product(t, LOWER_A, c->scale, stack_flip(scores_at(t, t->ds)), queries(t, &c->q),
            writes(t, SRC_K), keys(t, &c->dk));
}

const struct attention_products attention_plain = {.begin = plain_begin,
                                                   .scores = scores,
                                                   .outputs = outputs,
                                                   .dv = dv,
                                                   .weights = weights,
                                                   .dq = dq,
                                                   .dk = dk,
                                                   .upwards = true};
