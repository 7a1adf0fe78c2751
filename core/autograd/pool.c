/* SPDX-License-Identifier: MIT */
/* pool.c: pool_take and pool_give. */
#include "autograd/pool.h"

enum { ALIGNMENT = 64 };

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void drop(struct pool *p, int i)
{
    p->n--;
    memmove(p->block + i, p->block + i + 1, (size_t)(p->n - i) * sizeof(*p->block));
}

void *pool_take(struct pool *p, struct arena *a, size_t bytes)
{
    size_t need = round_up(bytes);
    int best = -1;
    for (int i = p->n - 1; i >= 0; i--)
        if (p->block[i].bytes >= need && (best < 0 || p->block[i].bytes < p->block[best].bytes))
            best = i;
    if (best < 0 || need == 0)
        return arena_try_alloc(a, bytes);
    struct pool_block *b = &p->block[best];
    void *data = b->data;
    b->data += need;
    b->bytes -= need;
    if (b->bytes == 0)
        drop(p, best);
    return data;
}

void pool_give(struct pool *p, void *data, size_t bytes)
{
    size_t whole = bytes / ALIGNMENT * ALIGNMENT;
    if (whole == 0)
        return;
#ifdef PEAT_SANITIZED
    memset(data, 0xff, whole); /* fills the block with NaN, so that a later use shows */
#endif
    if (p->n == POOL_BLOCKS)
        drop(p, 0);
    p->block[p->n++] = (struct pool_block){data, whole};
}
