/* SPDX-License-Identifier: MIT */
/*
 * attention_walk.c: the walk over blocks of query rows.
 *
 * The rows of a head are far apart in memory, so the processor does not prefetch them. Each block
 * of queries prefetches as many rows of the next task's operands, and of its own results.
 */
#include "attention_walk.h"

#include "fetch.h"

struct stack attention_rows_from(const struct tensor *x, const struct attention_tile *t,
                                 int64_t first, int64_t rows)
{
    int64_t offset = t->b * x->stride[0] + t->h * x->stride[1] + first * x->stride[2];
    return (struct stack){.data = (char *)x->data + offset * (int64_t)dtype_bytes(x->dtype),
                          .rows = rows,
                          .cols = x->dim[3],
                          .ld = at_least(x->stride[2], at_least(x->dim[3], 1))};
}

void attention_clear_rows(const struct tensor *x, const struct attention_tile *t, int64_t first,
                          int64_t rows)
{
    const struct stack m = attention_rows_from(x, t, first, rows);
    int64_t bytes = (int64_t)dtype_bytes(x->dtype);
    for (int64_t i = 0; i < rows; i++)
        memset(m.data + i * m.ld * bytes, 0, (size_t)(m.cols * bytes));
}

/* The block of a task that begins at query i0. */
static struct attention_tile tile_at(const struct attention *c, int64_t task, int64_t i0)
{
    struct attention_tile t = {.call = c, .b = task / c->H, .h = task % c->H, .i0 = i0};
    int64_t hi, bytes = (int64_t)dtype_bytes(c->dtype);
    t.slot = task - c->first;
    t.rows = at_most(c->block, c->Tq - i0);
    key_range(c, i0, i0 + t.rows - 1, &t.j0, &hi);
    t.j0 -= c->rounds ? t.j0 % 2 : 0;
    t.cols = hi - t.j0;
    t.padded = (t.cols + LANES - 1) / LANES * LANES;
    char *scratch = c->scratch + (size_t)parallel_thread() * c->thread_bytes;
    t.row = scratch;
    t.p = scratch + BLOCK_MOST * bytes;
    t.ds = (char *)t.p + c->block * c->width * bytes;
    t.lse = (char *)c->lse + (task * c->Tq + i0) * bytes;
    int64_t at = ((t.b * c->Tq + i0) * c->H + t.h) * c->Cv * bytes;
    t.out = (char *)c->out.data + at;
    t.dout = c->dout.data ? (char *)c->dout.data + at : NULL;
    t.out_step = c->H * c->Cv;
    return t;
}

/* ---- prefetches ---- */

/* Prefetches the tile's rows of x [B,H,T,C]. Prefetching does not pay for a single query row. */
static void walk_fetch(const struct attention_tile *t, const struct tensor *x, bool write)
{
    if (!x->data || t->call->Tq <= 1)
        return;
    const int64_t size = (int64_t)dtype_bytes(x->dtype);
    const int64_t end = at_most(t->i0 + t->rows, x->dim[2]);
    const struct stack m = attention_rows_from(x, t, 0, x->dim[2]);
    for (int64_t i = t->i0; i < end; i++)
        fetch_bytes(m.data + i * m.ld * size, m.cols * size, write);
}

/* The same rows of the next task. */
static void fetch_next(const struct attention_tile *t, const struct tensor *x)
{
    const struct attention *c = t->call;
    struct attention_tile next = *t;
    next.h = (t->h + 1) % c->H;
    next.b += next.h == 0;
    if (next.b < c->B)
        walk_fetch(&next, x, false);
}

/* Prefetches an operand of the next task, and this task's gradient of it if it has one. */
static void fetch_pair(const struct attention_tile *t, const struct tensor *x,
                       const struct tensor *dx)
{
    fetch_next(t, x);
    walk_fetch(t, dx, true);
}

/* out or dout [B,T,H,C] as [B,H,T,C] */
static struct tensor heads_first(const struct tensor *out)
{
    struct tensor t = *out;
    t.dim[1] = out->dim[2];
    t.dim[2] = out->dim[1];
    t.stride[1] = out->stride[2];
    t.stride[2] = out->stride[1];
    return t;
}

/* Forward prefetches the tile's own result; backward the next task's result and its gradient. */
static void fetch_outputs(const struct attention_tile *t)
{
    const struct tensor out = heads_first(&t->call->out), dout = heads_first(&t->call->dout);
    if (dout.data) {
        fetch_next(t, &out);
        fetch_next(t, &dout);
    } else {
        walk_fetch(t, &out, true);
    }
}

/* ---- forward ---- */

static void forward_block(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const struct attention_rows *rows = attention_rows_of(c->dtype);
    fetch_pair(t, &c->q, &c->dq);
    c->by->scores(t);
    fetch_pair(t, &c->k, &c->dk);
    fetch_outputs(t);
    rows->weigh(t);
    fetch_pair(t, &c->v, &c->dv);
    c->by->outputs(t);
    rows->divide(t);
}

void attention_forward_task(void *call, int64_t task)
{
    const struct attention *c = call;
    struct attention_tile t = tile_at(c, task, 0);
    void *packed = c->by->begin(&t);
    for (int64_t i0 = 0; i0 < c->Tq; i0 += c->block) {
        t = tile_at(c, task, i0);
        t.packed = packed;
        forward_block(&t);
    }
}

/* ---- backward ---- */

static void backward_block(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const struct attention_rows *rows = attention_rows_of(c->dtype);
    fetch_pair(t, &c->q, &c->dq);
    c->by->scores(t);
    fetch_pair(t, &c->k, &c->dk);
    rows->weigh_again(t);
    fetch_outputs(t);
    if (c->dv.data)
        c->by->dv(t);
    if (!c->scores)
        return;
    fetch_pair(t, &c->v, &c->dv);
    c->by->weights(t);
    rows->score_grads(t);
    if (c->dq.data)
        c->by->dq(t);
    if (c->dk.data)
        c->by->dk(t);
}

void attention_backward_task(void *call, int64_t slot)
{
    const struct attention *c = call;
    const int64_t task = c->first + slot, blocks = (c->Tq + c->block - 1) / c->block;
    struct attention_tile t = tile_at(c, task, 0);
    void *packed = c->by->begin(&t);
    for (int64_t i = 0; i < blocks; i++) {
        t = tile_at(c, task, (c->by->upwards ? blocks - 1 - i : i) * c->block);
        t.packed = packed;
        if (t.cols > 0)
            backward_block(&t);
        else if (c->dq.data && c->fresh[SRC_Q])
            attention_clear_rows(&c->dq, &t, t.i0, t.rows);
    }
    if (c->by->end)
        c->by->end(&t);
}
