/* SPDX-License-Identifier: MIT */
/*
 * attention_rounded.c: tasks of fused attention whose products are of bf16.
 *
 * A task packs q, k, v and dout of its head once; a block of query rows multiplies parts of them.
 * Scores, exponentials and their gradients are F32 and are rounded as operands alone. dk and dv are
 * summed over the blocks transposed, [C, Tk], where the long axis is the one of the lanes.
 */
#include "attention_rounded.h"

#include <string.h>

#include "attention_fetch.h"
#include "tensor/dots.h"

/* What a thread packs into. "across": transposed. */
struct packed {
    int64_t c_step, v_step, q_step; /* rows of C, Cv and Tq elements */
    int64_t c_width, v_width;       /* pairs of C and Cv columns     */
    int64_t k_width;                /* of Tk and of a whole tile     */
    bf16 *q, *q_across, *k, *k_across, *v, *v_across, *dout, *dout_across;
    bf16 *p, *ds;
    float *dk_across, *dv_across;
};

/* The next `bytes` of memory at *at; *at may begin at 0 to count them. */
static void *carve(uintptr_t *at, int64_t count, size_t size)
{
    enum { LINE = 64 };
    uintptr_t found = *at;
    *at += ((size_t)count * size + LINE - 1) / LINE * LINE;
    return (void *)found;
}

static struct packed lay_out(const struct attention *c, bool backward, uintptr_t *at)
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
    if (!backward) {
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

size_t attention_packed_bytes(const struct attention *c, bool backward)
{
    uintptr_t end = 0;
    if (c->rounds)
        lay_out(c, backward, &end);
    return end;
}

static struct packed own_packed(const struct attention *c, bool backward)
{
    size_t thread = (size_t)parallel_thread() * c->thread_bytes;
    uintptr_t at = (uintptr_t)(c->scratch + thread + c->packed_at);
    return lay_out(c, backward, &at);
}

/* Where a head begins in an operand. */
static const float *head_of(const struct tensor *t, const struct attention_tile *at, int64_t *step)
{
    struct matrix x = attention_rows_from(t, at->b, at->h, 0);
    *step = x.step;
    return x.data;
}

/* to [rows, cols of the tile] = alpha x y', x packed by rows of `step` and y across the keys */
static void multiply_by_keys(const struct attention_tile *t, const struct packed *m, const bf16 *x,
                             int64_t step, const bf16 *y_across, int64_t depth, double alpha,
                             void *to)
{
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

/* p = scale q k' over the keys of the tile */
static void raw_scores(const struct attention_tile *t, const struct packed *m)
{
    const struct attention *c = t->call;
    multiply_by_keys(t, m, m->q, m->c_step, m->k_across, c->C, c->scale, t->p);
}

static void pack_forward(const struct attention *c, const struct attention_tile *t,
                         const struct packed *m)
{
    int64_t step;
    const float *q = head_of(&c->q, t, &step);
    dots_rows(m->q, m->c_step, q, c->Tq, c->C, step);
    const float *k = head_of(&c->k, t, &step);
    dots_pairs_across(m->k_across, m->k_width, k, c->Tk, c->C, step);
}

void attention_forward_rounded(void *call, int64_t task)
{
    const struct attention *c = call;
    const struct attention_rows *rows = attention_rows_of(c->dtype);
    struct packed m = own_packed(c, false);
    struct attention_tile t = attention_tile_at(c, task, 0);
    int64_t step;
    pack_forward(c, &t, &m);
    const float *v = head_of(&c->v, &t, &step);
    dots_pairs(m.v, m.v_width, v, c->Tk, c->Cv, step);
    for (int64_t i0 = 0; i0 < c->Tq; i0 += c->block) {
        t = attention_tile_at(c, task, i0);
        attention_fetch_queries(&t);
        raw_scores(&t, &m);
        attention_fetch_keys(&t);
        attention_fetch_outputs(&t);
        rows->weigh(&t);
        attention_fetch_values(&t);
        bf16_round_rows(m.p, t.p, 1.0f, t.rows, t.padded, c->width);
        dots_multiply(&(struct dots){.m = t.rows,
                                     .n = c->Cv,
                                     .k = t.cols,
                                     .a = m.p,
                                     .b = m.v + t.j0 * m.v_width,
                                     .c = t.out,
                                     .step = t.padded,
                                     .width = m.v_width,
                                     .c_step = t.out_step,
                                     .alpha = 1.0f});
        rows->divide(&t);
    }
}

static void pack_backward(const struct attention *c, const struct attention_tile *t,
                          const struct packed *m)
{
    int64_t step;
    pack_forward(c, t, m);
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

/* sum [n, keys] += x' y, where x [rows, n] is packed across and y [rows, keys] is the tile's. */
static void add_over_rows(const struct attention_tile *t, const struct packed *m, int64_t n,
                          const bf16 *x_across, const float *y, bf16 *room, float *sum)
{
    const struct attention *c = t->call;
    dots_pairs(room, t->padded, y, t->rows, t->cols, c->width);
    dots_multiply(&(struct dots){.m = n,
                                 .n = t->padded,
                                 .k = t->rows,
                                 .a = x_across + t->i0,
                                 .b = room,
                                 .c = sum + t->j0,
                                 .step = m->q_step,
                                 .width = t->padded,
                                 .c_step = m->k_width,
                                 .alpha = 1.0f,
                                 .add = true});
}

/* ds = dout v' */
static void weight_grads(const struct attention_tile *t, const struct packed *m)
{
    multiply_by_keys(t, m, m->dout, m->v_step, m->v_across, t->call->Cv, 1.0, t->ds);
}

/* dq = scale ds k */
static void query_grads(const struct attention_tile *t, const struct packed *m)
{
    const struct attention *c = t->call;
    struct matrix dq = attention_rows_from(&c->dq, t->b, t->h, t->i0);
    const int64_t step = dots_whole(t->cols, 2);
    for (int64_t r = 0; r < t->rows && step > t->cols; r++)
        ((float *)t->ds)[r * c->width + t->cols] = 0.0f;
    bf16_round_rows(m->ds, t->ds, 1.0f, t->rows, step, c->width);
    dots_multiply(&(struct dots){.m = t->rows,
                                 .n = c->C,
                                 .k = t->cols,
                                 .a = m->ds,
                                 .b = m->k + t->j0 * m->c_width,
                                 .c = dq.data,
                                 .step = step,
                                 .width = m->c_width,
                                 .c_step = dq.step,
                                 .alpha = (float)c->scale,
                                 .add = !c->fresh[0]});
}

/* As backward_tile of op_attention.c. */
static void backward_block(const struct attention_tile *t, const struct packed *m)
{
    const struct attention *c = t->call;
    const struct attention_rows *rows = attention_rows_of(c->dtype);
    attention_fetch_queries(t);
    raw_scores(t, m);
    attention_fetch_keys(t);
    rows->weigh_again(t);
    attention_fetch_outputs(t);
    if (c->dv.data)
        add_over_rows(t, m, c->Cv, m->dout_across, t->p, m->p, m->dv_across);
    if (!c->scores)
        return;
    attention_fetch_values(t);
    weight_grads(t, m);
    rows->score_grads(t);
    if (c->dk.data)
        add_over_rows(t, m, c->C, m->q_across, t->ds, m->p, m->dk_across);
    if (c->dq.data)
        query_grads(t, m);
}

static void put_sum(const struct tensor *grad, const struct attention_tile *t, const float *sum,
                    const struct packed *m, double scale, bool fresh)
{
    if (!grad->data)
        return;
    struct matrix to = attention_rows_from(grad, t->b, t->h, 0);
    dots_transpose(to.data, to.step, sum, grad->dim[3], grad->dim[2], m->k_width, (float)scale,
                   !fresh);
}

void attention_backward_rounded(void *call, int64_t slot)
{
    const struct attention *c = call;
    struct packed m = own_packed(c, true);
    struct attention_tile t = attention_tile_at(c, c->first + slot, 0);
    pack_backward(c, &t, &m);
    for (int64_t i0 = 0; i0 < c->Tq; i0 += c->block) {
        t = attention_tile_at(c, c->first + slot, i0);
        backward_block(&t, &m);
    }
    put_sum(&c->dk, &t, m.dk_across, &m, c->scale, c->fresh[1]);
    put_sum(&c->dv, &t, m.dv_across, &m, 1.0, c->fresh[2]);
}
