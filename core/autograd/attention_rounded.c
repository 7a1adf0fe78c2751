/* SPDX-License-Identifier: MIT */
/*
 * attention_rounded.c: products of fused attention in bf16.
 *
 * A task packs q, k, v and dout of its head once; a block of query rows multiplies parts of them.
 * Scores, exponentials and their gradients are F32 and are rounded only as operands of products. dk
 * and dv are summed over the blocks in transposed form, [C, Tk], so that vectors run along the long
 * axis.
 */

#include "attention_walk.h"
#include "tensor/dots.h"

/* A thread's packed operands; `across`: packed transposed. */
struct packed {
    int64_t c_step, v_step, q_step; /* lengths of packed rows of C, Cv and Tq elements */
    int64_t c_width, v_width;       /* widths in pairs of C and Cv columns */
    int64_t k_width;                /* the same for Tk and for a whole tile */
    bf16 *q, *q_across, *k, *k_across, *v, *v_across, *dout, *dout_across;
    bf16 *p, *ds;
    float *dk_across, *dv_across;
};

/* Memory for `count` numbers at *at, which it moves to the end of them; with *at beginning at 0 it
 * counts bytes. */
static void *carve(uintptr_t *at, int64_t count, size_t size)
{
    enum { LINE = 64 };
    uintptr_t found = *at;
    *at += ((size_t)count * size + LINE - 1) / LINE * LINE;
    return (void *)found;
}

static struct packed lay_out(const struct attention *c, uintptr_t *at)
{
    struct packed m = {
        .c_step = dots_whole(c->C, DOTS_STEP),
        .v_step = dots_whole(c->Cv, DOTS_STEP),
        .q_step = dots_whole(c->Tq, DOTS_STEP),
        .c_width = dots_whole(c->C, DOTS_COLUMNS),
        .v_width = dots_whole(c->Cv, DOTS_COLUMNS),
        .k_width = dots_whole(c->Tk, DOTS_COLUMNS) + DOTS_COLUMNS,
    };
    const int64_t keys = dots_whole(c->Tk, 2), scores = dots_whole(c->block, 2) * m.k_width;
    const int64_t deep = dots_whole(c->C, 2), deep_v = dots_whole(c->Cv, 2);
    m.q = carve(at, c->Tq * m.c_step, sizeof(bf16));
    m.k_across = carve(at, deep * m.k_width, sizeof(bf16));
    m.p = carve(at, scores, sizeof(bf16));
    if (!c->dout.data) { /* forward */
        m.v = carve(at, keys * m.v_width, sizeof(bf16));
        return m;
    }
    m.q_across = carve(at, c->C * m.q_step, sizeof(bf16));
    m.k = carve(at, keys * m.c_width, sizeof(bf16));
    m.v_across = carve(at, deep_v * m.k_width, sizeof(bf16));
    m.dout = carve(at, c->Tq * m.v_step, sizeof(bf16));
    m.dout_across = carve(at, c->Cv * m.q_step, sizeof(bf16));
    m.ds = carve(at, scores, sizeof(bf16));
    m.dk_across = carve(at, m.c_width * m.k_width, sizeof(float));
    m.dv_across = carve(at, m.v_width * m.k_width, sizeof(float));
    return m;
}

/* The struct itself is the first part of the memory. */
static uintptr_t behind_layout(uintptr_t at)
{
    carve(&at, 1, sizeof(struct packed));
    return at;
}

static size_t bytes(const struct attention *c)
{
    uintptr_t end = behind_layout(0);
    lay_out(c, &end);
    return end;
}

/* The first row of the tile's head in a packed operand. */
static const float *head_of(const struct tensor *x, const struct attention_tile *t, int64_t *step)
{
    const struct stack m = attention_rows_from(x, t, 0, x->dim[2]);
    *step = m.ld;
    return (const float *)(const void *)m.data;
}

static void pack_forward(const struct attention_tile *t, const struct packed *m)
{
    const struct attention *c = t->call;
    int64_t step;
    const float *q = head_of(&c->q, t, &step);
    dots_rows(m->q, m->c_step, q, c->Tq, c->C, step);
    const float *k = head_of(&c->k, t, &step);
    dots_pairs_across(m->k_across, m->k_width, k, c->Tk, c->C, step);
    if (c->dout.data)
        return;
    const float *v = head_of(&c->v, t, &step);
    dots_pairs(m->v, m->v_width, v, c->Tk, c->Cv, step);
}

static void pack_backward(const struct attention_tile *t, const struct packed *m)
{
    const struct attention *c = t->call;
    int64_t step;
    const float *dout = t->dout; /* of row 0 */
    dots_rows(m->dout, m->v_step, dout, c->Tq, c->Cv, t->out_step);
    if (c->dv.data) {
        dots_rows_across(m->dout_across, m->q_step, dout, c->Tq, c->Cv, t->out_step);
        memset(m->dv_across, 0, (size_t)(m->v_width * m->k_width) * sizeof(float));
    }
    if (!c->scores)
        return;
    const float *v = head_of(&c->v, t, &step);
    dots_pairs_across(m->v_across, m->k_width, v, c->Tk, c->Cv, step);
    if (c->dq.data) {
        const float *k = head_of(&c->k, t, &step);
        dots_pairs(m->k, m->c_width, k, c->Tk, c->C, step);
    }
    if (c->dk.data) {
        const float *q = head_of(&c->q, t, &step);
        dots_rows_across(m->q_across, m->q_step, q, c->Tq, c->C, step);
        memset(m->dk_across, 0, (size_t)(m->c_width * m->k_width) * sizeof(float));
    }
}

static void *rounded_begin(const struct attention_tile *first)
{
    const struct attention *c = first->call;
    char *own = c->scratch + (size_t)parallel_thread() * c->thread_bytes + c->packed_at;
    uintptr_t at = behind_layout((uintptr_t)own);
    struct packed *m = (void *)own;
    *m = lay_out(c, &at);
    pack_forward(first, m);
    if (c->dout.data)
        pack_backward(first, m);
    return m;
}

/* to [rows, cols of the tile] = alpha x y', x packed by rows of `step` and y across the keys */
static void multiply_by_keys(const struct attention_tile *t, const bf16 *x, int64_t step,
                             const bf16 *y_across, int64_t depth, double alpha, void *to)
{
    const struct packed *m = t->packed;
    dots_multiply(&(struct dots){.m = t->rows,
                                 .n = t->padded,
                                 .k = depth,
                                 .a = x + t->i0 * step,
                                 .b = y_across + 2 * t->j0,
                                 .c = to,
                                 .step = step,
                                 .width = m->k_width,
                                 .c_step = t->call->width,
                                 .alpha = (float)alpha});
}

static void scores(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const struct packed *m = t->packed;
    multiply_by_keys(t, m->q, m->c_step, m->k_across, c->C, c->scale, t->p);
}

static void outputs(const struct attention_tile *t)
{
    const struct packed *m = t->packed;
    bf16_round_rows(m->p, t->p, 1.0f, t->rows, t->padded, t->call->width);
    dots_multiply(&(struct dots){.m = t->rows,
                                 .n = t->call->Cv,
                                 .k = t->cols,
                                 .a = m->p,
                                 .b = m->v + t->j0 * m->v_width,
                                 .c = t->out,
                                 .step = t->padded,
                                 .width = m->v_width,
                                 .c_step = t->out_step,
                                 .alpha = 1.0f});
}

/* sum [n, keys] += x' y, where x [rows, n] is packed across and y [rows, keys] is the tile's. */
static void add_over_rows(const struct attention_tile *t, int64_t n, const bf16 *x_across,
                          const float *y, float *sum)
{
    const struct packed *m = t->packed;
    dots_pairs(m->p, t->padded, y, t->rows, t->cols, t->call->width);
    dots_multiply(&(struct dots){.m = n,
                                 .n = t->padded,
                                 .k = t->rows,
                                 .a = x_across + t->i0,
                                 .b = m->p,
                                 .c = sum + t->j0,
                                 .step = m->q_step,
                                 .width = t->padded,
                                 .c_step = m->k_width,
                                 .alpha = 1.0f,
                                 .add = true});
}

static void dv(const struct attention_tile *t)
{
    const struct packed *m = t->packed;
    add_over_rows(t, t->call->Cv, m->dout_across, t->p, m->dv_across);
}

static void weights(const struct attention_tile *t)
{
    const struct packed *m = t->packed;
    multiply_by_keys(t, m->dout, m->v_step, m->v_across, t->call->Cv, 1.0, t->ds);
}

static void dk(const struct attention_tile *t)
{
    const struct packed *m = t->packed;
    add_over_rows(t, t->call->C, m->q_across, t->ds, m->dk_across);
}

static void dq(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const struct packed *m = t->packed;
    const struct stack to = attention_rows_from(&c->dq, t, t->i0, t->rows);
    const int64_t step = dots_whole(t->cols, 2);
    for (int64_t r = 0; r < t->rows && step > t->cols; r++)
        ((float *)t->ds)[r * c->width + t->cols] = 0.0f;
    bf16_round_rows(m->ds, t->ds, 1.0f, t->rows, step, c->width);
    dots_multiply(&(struct dots){.m = t->rows,
                                 .n = c->C,
                                 .k = t->cols,
                                 .a = m->ds,
                                 .b = m->k + t->j0 * m->c_width,
                                 .c = (float *)(void *)to.data,
                                 .step = step,
                                 .width = m->c_width,
                                 .c_step = to.ld,
                                 .alpha = (float)c->scale,
                                 .add = !c->fresh[SRC_Q]});
}

static void put_sum(const struct attention_tile *t, const struct tensor *grad, const float *sum,
                    double scale, bool fresh)
{
    const struct packed *m = t->packed;
    if (!grad->data)
        return;
    const struct stack to = attention_rows_from(grad, t, 0, grad->dim[2]);
    dots_transpose((float *)(void *)to.data, to.ld, sum, grad->dim[3], grad->dim[2], m->k_width,
                   (float)scale, !fresh);
}

static void rounded_end(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const struct packed *m = t->packed;
    put_sum(t, &c->dk, m->dk_across, c->scale, c->fresh[SRC_K]);
    put_sum(t, &c->dv, m->dv_across, 1.0, c->fresh[SRC_V]);
}

const struct attention_products attention_rounded = {.bytes = bytes,
                                                     .begin = rounded_begin,
                                                     .scores = scores,
                                                     .outputs = outputs,
                                                     .dv = dv,
                                                     .weights = weights,
                                                     .dq = dq,
                                                     .dk = dk,
                                                     .end = rounded_end};
