/* SPDX-License-Identifier: MIT */
/* attention_fetch.c: prefetches of fused attention. */
#include "attention_fetch.h"

struct tensor attention_heads_first(const struct tensor *out)
{
    struct tensor t = *out;
    t.dim[1] = out->dim[2];
    t.dim[2] = out->dim[1];
    t.stride[1] = out->stride[2];
    t.stride[2] = out->stride[1];
    return t;
}

/* The tile's rows in head h of batch b of x. */
static void fetch(const struct attention_tile *t, const struct tensor *x, int64_t b, int64_t h,
                  bool write)
{
    enum { LINE = 64, READ = 0, WRITE = 1, SECOND_CACHE = 2 };
    const int64_t size = (int64_t)dtype_bytes(x->dtype);
    const struct matrix m = attention_rows_from(x, b, h, 0);
    const int64_t end = least(t->i0 + t->rows, x->dim[2]), bytes = x->dim[3] * size;
    for (int64_t i = t->i0; i < end; i++)
        for (int64_t j = 0; j < bytes; j += LINE) {
            const char *line = (const char *)m.data + i * m.step * size + j;
            if (write)
                __builtin_prefetch(line, WRITE, SECOND_CACHE);
            else
                __builtin_prefetch(line, READ, SECOND_CACHE);
        }
}

void attention_fetch_next(const struct attention_tile *t, const struct tensor *x)
{
    const struct attention *c = t->call;
    const int64_t next = t->b * c->H + t->h + 1;
    if (next < c->B * c->H)
        fetch(t, x, next / c->H, next % c->H, false);
}

void attention_fetch_result(const struct attention_tile *t, const struct tensor *x)
{
    if (x->data)
        fetch(t, x, t->b, t->h, true);
}
