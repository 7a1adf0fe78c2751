/* SPDX-License-Identifier: MIT */
/* attention_tile.c: where a block of queries and its keys stand. */
#include "attention_tile.h"

struct attention_tile attention_tile_at(const struct attention *c, int64_t task, int64_t i0)
{
    struct attention_tile t = {.call = c, .b = task / c->H, .h = task % c->H, .i0 = i0};
    int64_t hi, bytes = (int64_t)dtype_bytes(c->dtype);
    t.slot = task - c->first;
    t.rows = least(c->block, c->Tq - i0);
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

struct matrix attention_rows_from(const struct tensor *t, int64_t b, int64_t h, int64_t i)
{
    int64_t offset = b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
    return (struct matrix){(char *)t->data + offset * (int64_t)dtype_bytes(t->dtype),
                           most(t->stride[2], most(t->dim[3], 1)), false};
}
