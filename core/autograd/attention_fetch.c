/* SPDX-License-Identifier: MIT */
/* attention_fetch.c: prefetches of fused attention. */
#include "attention_fetch.h"

#include "fetch.h"

/* The tile's rows in head h of batch b of x [B,H,T,C]. */
static void fetch(const struct attention_tile *t, const struct tensor *x, int64_t b, int64_t h,
                  bool write)
{
    const int64_t size = (int64_t)dtype_bytes(x->dtype);
    const struct matrix m = attention_rows_from(x, b, h, 0);
    const int64_t end = least(t->i0 + t->rows, x->dim[2]);
    for (int64_t i = t->i0; i < end; i++)
        fetch_bytes((const char *)m.data + i * m.step * size, x->dim[3] * size, write);
}

/* A newest row by itself is as soon read as asked for. */
static void fetch_next(const struct attention_tile *t, const struct tensor *x)
{
    const struct attention *c = t->call;
    const int64_t next = t->b * c->H + t->h + 1;
    if (next < c->B * c->H && c->Tq > 1)
        fetch(t, x, next / c->H, next % c->H, false);
}

static void fetch_result(const struct attention_tile *t, const struct tensor *x)
{
    if (x->data && t->call->Tq > 1)
        fetch(t, x, t->b, t->h, true);
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

void attention_fetch_queries(const struct attention_tile *t)
{
    fetch_next(t, &t->call->q);
    fetch_result(t, &t->call->dq);
}

void attention_fetch_keys(const struct attention_tile *t)
{
    fetch_next(t, &t->call->k);
    fetch_result(t, &t->call->dk);
}

void attention_fetch_values(const struct attention_tile *t)
{
    fetch_next(t, &t->call->v);
    fetch_result(t, &t->call->dv);
}

void attention_fetch_outputs(const struct attention_tile *t)
{
    const struct tensor out = heads_first(&t->call->out), dout = heads_first(&t->call->dout);
    if (dout.data) {
        fetch_next(t, &out);
        fetch_next(t, &dout);
    } else {
        fetch_result(t, &out);
    }
}
