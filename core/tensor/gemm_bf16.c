/* SPDX-License-Identifier: MIT */
/* gemm_bf16.c: rounds operands into the thread's memory and calls the provider's product. */
#include "gemm_bf16.h"

#include "tensor/bf16.h"

/* Memory that grows. */
struct room {
    void *data;
    size_t bytes;
};

struct thread_rooms {
    struct room a, b, shared_b;
};

struct bf16_products {
    const peat_gemm_bf16 *provider;
    void *state;
    int threads;
    struct thread_rooms thread[];
};

struct bf16_products *bf16_products_open(const peat_gemm_bf16 *provider, int threads)
{
    threads = threads < 1 ? 1 : threads;
    struct bf16_products *all =
        calloc(1, sizeof(*all) + (size_t)threads * sizeof(struct thread_rooms));
    if (!all)
        return NULL;
    all->provider = provider;
    all->threads = threads;
    if (provider->open(threads, &all->state) == PEAT_OK)
        return all;
    free(all);
    return NULL;
}

void bf16_products_close(struct bf16_products *all)
{
    all->provider->close(all->state);
    for (int i = 0; i < all->threads; i++) {
        free(all->thread[i].a.data);
        free(all->thread[i].b.data);
        free(all->thread[i].shared_b.data);
    }
    free(all);
}

bool bf16_products_add_bias(const struct bf16_products *all)
{
    return PEAT_HAS(all->provider, adds_bias);
}

static void *room_of(struct room *r, size_t bytes)
{
    enum { LINE = 64 };
    if (bytes > r->bytes) {
        free(r->data);
        r->bytes = (bytes + bytes / 4 + LINE - 1) / LINE * LINE;
        r->data = aligned_alloc(LINE, r->bytes);
        if (!r->data)
            out_of_memory("a matrix product");
    }
    return r->data;
}

static struct thread_rooms *own(struct bf16_products *all)
{
    int thread = parallel_thread();
    BUG_UNLESS(thread < all->threads);
    return &all->thread[thread];
}

static bf16 *rounded(struct room *r, const void *x, double scale, bool trans, int64_t rows,
                     int64_t cols, int64_t ld)
{
    bf16 *to = room_of(r, (size_t)(rows * cols) * sizeof(*to));
    if (trans)
        bf16_round_rows(to, x, (float)scale, cols, rows, ld);
    else
        bf16_round_rows(to, x, (float)scale, rows, cols, ld);
    return to;
}

const void *bf16_products_round_b(struct bf16_products *all, const struct gemm *p)
{
    return rounded(&own(all)->shared_b, p->b, 1.0, p->trans_b, p->k, p->n, p->ldb);
}

peat_status bf16_products_multiply(struct bf16_products *all, const struct gemm *p)
{
    struct thread_rooms *t = own(all);
    const bool has_a = p->a16, has_b = p->b16;
    const peat_gemm_product product = {
        .size = sizeof(product),
        .dtype = PEAT_F32,
        .trans_a = p->trans_a,
        .trans_b = p->trans_b,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .alpha = 1.0,
        .beta = p->beta,
        .a = has_a ? p->a16 : rounded(&t->a, p->a, p->alpha, p->trans_a, p->m, p->k, p->lda),
        .b = has_b ? p->b16 : rounded(&t->b, p->b, 1.0, p->trans_b, p->k, p->n, p->ldb),
        .c = p->c,
        .lda = has_a        ? p->lda16
               : p->trans_a ? p->m
                            : p->k,
        .ldb = has_b        ? p->ldb16
               : p->trans_b ? p->k
                            : p->n,
        .ldc = p->ldc,
        .bias = p->bias,
    };
    return all->provider->multiply(all->state, parallel_thread(), &product);
}

static const float *widened(struct room *r, const bf16 *x, int64_t rows, int64_t cols, int64_t ld)
{
    float *to = room_of(r, (size_t)(rows * cols) * sizeof(*to));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[i * cols + j] = bf16_value(x[i * ld + j]);
    return to;
}

struct gemm bf16_products_widen(struct bf16_products *all, const struct gemm *p)
{
    struct thread_rooms *t = own(all);
    struct gemm q = *p;
    if (!p->a) {
        q.lda = p->trans_a ? p->m : p->k;
        q.a = widened(&t->a, p->a16, p->trans_a ? p->k : p->m, q.lda, p->lda16);
    }
    if (!p->b) {
        q.ldb = p->trans_b ? p->k : p->n;
        q.b = widened(&t->b, p->b16, p->trans_b ? p->n : p->k, q.ldb, p->ldb16);
    }
    return q;
}
