/* SPDX-License-Identifier: MIT */
/*
 * gemm_onednn.c: products by oneDNN, on one thread each; those in double precision by OpenBLAS,
 * as oneDNN has none. Built where Debian's libdnnl-dev is found.
 *
 * It packs less than OpenBLAS does for the tall and skinny products of small models and for those
 * of one attention head. Threads: it asks the OpenMP runtime, which parallel_start() has set to one
 * outside regions, and uses one inside.
 *
 * Products of bf16 are "primitives", made for a shape in about a millisecond and then kept, apart
 * for each thread.
 */
#include "tensor/gemm.h"

#ifdef PEAT_ONEDNN

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/bf16.h"

static peat_status start(struct error *err)
{
    return gemm_openblas.start(err); /* for double precision */
}

#define TEXT(x)    #x
#define NUMBER(x)  TEXT(x)
#define BUILT_WITH NUMBER(DNNL_VERSION_MAJOR) "." NUMBER(DNNL_VERSION_MINOR)

static const char *library(void)
{
    return "oneDNN " BUILT_WITH;
}

static const char *kernels(void)
{
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
        return "sse41";
    case dnnl_cpu_isa_avx:
        return "avx";
    case dnnl_cpu_isa_avx2:
        return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
        return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
        return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
        return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
        return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
        return "avx512_core_amx";
    default:
        return "other";
    }
}

/* Below this OpenBLAS is faster, and a model that has no larger products spares itself the
 * compiling of kernels when they are first used (40 ms). */
enum { SMALL = 32 * 32 * 32 };

static void multiply(const struct gemm *p)
{
    if (p->dtype != PEAT_F32 || p->m * p->n * p->k < SMALL) {
        gemm_openblas.multiply(p);
        return;
    }
    /* With valid sizes only memory can fail. */
    if (dnnl_sgemm(p->trans_a ? 'T' : 'N', p->trans_b ? 'T' : 'N', p->m, p->n, p->k,
                   (float)p->alpha, p->a, p->lda, p->b, p->ldb, (float)p->beta, p->c,
                   p->ldc) != dnnl_success)
        out_of_memory("a matrix product");
}

/* --- bf16 --------------------------------------------------------------------------------- */

/* What a primitive is made for; compared as bytes, so it has no gaps. */
struct shape {
    int64_t m, n, k;
    int64_t ldb, ldc; /* A is without gaps */
    int64_t trans_a, trans_b;
    double beta;
};

enum { ARGS = 4, TABLE = 1024, MOST_PRIMITIVES = TABLE / 2 };

struct product {
    struct shape shape;
    bool used;
    dnnl_primitive_t primitive; /* NULL: no kernel for this shape */
    dnnl_exec_arg_t arg[ARGS];  /* A, B, C, scratch               */
    size_t scratch_bytes;
};

/* Memory that grows. */
struct room {
    void *data;
    size_t bytes;
};

struct thread_products {
    dnnl_stream_t stream;
    int n;
    struct product table[TABLE]; /* by hash, next free place */
    struct room a, b, shared_b, scratch;
};

struct bf16_products {
    dnnl_engine_t engine;
    int threads;
    struct thread_products thread[];
};

static void *room_of(struct room *r, size_t bytes)
{
    enum { LINE = 64 };
    if (bytes > r->bytes) {
        free(r->data);
        r->bytes = (bytes + bytes / 4 + LINE - 1) / LINE * LINE;
        r->data = aligned_alloc(LINE, r->bytes);
        if (r->data == NULL)
            out_of_memory("a matrix product");
    }
    return r->data;
}

static void forget(struct product *p)
{
    for (int i = 0; i < ARGS; i++)
        if (p->arg[i].memory != NULL)
            dnnl_memory_destroy(p->arg[i].memory);
    if (p->primitive != NULL)
        dnnl_primitive_destroy(p->primitive);
    memset(p, 0, sizeof(*p));
}

static void forget_all(struct thread_products *t)
{
    for (int i = 0; i < TABLE; i++)
        if (t->table[i].used)
            forget(&t->table[i]);
    t->n = 0;
}

static dnnl_status_t describe(dnnl_memory_desc_t *desc, dnnl_data_type_t type, int64_t rows,
                              int64_t cols, bool trans, int64_t ld)
{
    const dnnl_dims_t dims = {rows, cols}, strides = {trans ? 1 : ld, trans ? ld : 1};
    return dnnl_memory_desc_init_by_strides(desc, 2, dims, type, strides);
}

/* Scratch memory is the caller's: the library's own belongs to the thread that made the primitive.
 */
static dnnl_status_t attributes(const struct shape *s, dnnl_primitive_attr_t attr)
{
    dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_post_ops_t add = NULL;
    if (status == dnnl_success && s->beta != 0.0) {
        status = dnnl_post_ops_create(&add);
        if (status == dnnl_success)
            status = dnnl_post_ops_append_sum(add, (float)s->beta);
        if (status == dnnl_success)
            status = dnnl_primitive_attr_set_post_ops(attr, add);
        dnnl_post_ops_destroy(add);
    }
    return status;
}

static dnnl_status_t plan_product(const struct shape *s, dnnl_engine_t engine,
                                  dnnl_primitive_desc_t *plan)
{
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t product;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status =
        describe(&a, dnnl_bf16, s->m, s->k, s->trans_a, s->trans_a ? s->m : s->k);
    if (status == dnnl_success)
        status = describe(&b, dnnl_bf16, s->k, s->n, s->trans_b, s->ldb);
    if (status == dnnl_success)
        status = describe(&c, dnnl_f32, s->m, s->n, false, s->ldc);
    if (status == dnnl_success)
        status = dnnl_matmul_desc_init(&product, &a, &b, NULL, &c);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_create(&attr);
    if (status == dnnl_success)
        status = attributes(s, attr);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(plan, &product, attr, engine, NULL);
    if (attr != NULL)
        dnnl_primitive_attr_destroy(attr);
    return status;
}

static dnnl_status_t make_arguments(struct product *p, const_dnnl_primitive_desc_t plan,
                                    dnnl_engine_t engine)
{
    static const struct {
        int name;
        dnnl_query_t query;
    } arg[ARGS] = {{DNNL_ARG_SRC, dnnl_query_src_md},
                   {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                   {DNNL_ARG_DST, dnnl_query_dst_md},
                   {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md}};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < ARGS && status == dnnl_success; i++) {
        const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(plan, arg[i].query, 0);
        p->arg[i].arg = arg[i].name;
        p->scratch_bytes = dnnl_memory_desc_get_size(desc); /* the last one stays */
        status = dnnl_memory_create(&p->arg[i].memory, desc, engine, DNNL_MEMORY_NONE);
    }
    return status;
}

/* The plain loops of the library are slower than F32 products. */
static bool is_fast(const_dnnl_primitive_desc_t plan)
{
    const char *name = "ref";
    dnnl_primitive_desc_query(plan, dnnl_query_impl_info_str, 0, &name);
    return strncmp(name, "ref", 3) != 0;
}

static void make(struct product *p, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t plan = NULL;
    dnnl_status_t status = plan_product(&p->shape, engine, &plan);
    if (status == dnnl_success && is_fast(plan)) {
        status = dnnl_primitive_create(&p->primitive, plan);
        if (status == dnnl_success)
            status = make_arguments(p, plan, engine);
    }
    if (plan != NULL)
        dnnl_primitive_desc_destroy(plan);
    if (status == dnnl_out_of_memory)
        out_of_memory("a matrix product");
    BUG_UNLESS(status == dnnl_success || status == dnnl_unimplemented);
}

static uint64_t hash_of(const struct shape *s)
{
    const int64_t part[] = {s->m, s->n, s->k, s->ldb, s->ldc, s->trans_a, s->trans_b};
    uint64_t hash = s->beta != 0.0;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        hash = (hash ^ (uint64_t)part[i]) * 0x9e3779b97f4a7c15u;
    return hash >> 32;
}

static struct product *find(struct bf16_products *all, struct thread_products *t,
                            const struct shape *s)
{
    struct product *p;
    uint64_t at = hash_of(s);
    for (; (p = &t->table[at % TABLE])->used; at++)
        if (memcmp(&p->shape, s, sizeof(*s)) == 0)
            return p;
    if (t->n == MOST_PRIMITIVES) {
        forget_all(t);
        p = &t->table[hash_of(s) % TABLE];
    }
    *p = (struct product){.shape = *s, .used = true};
    make(p, all->engine);
    t->n++;
    return p;
}

static struct thread_products *own(struct bf16_products *all)
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

static const void *round_b(struct bf16_products *all, const struct gemm *p)
{
    return rounded(&own(all)->shared_b, p->b, 1.0, p->trans_b, p->k, p->n, p->ldb);
}

static bool multiply_bf16(struct bf16_products *all, const struct gemm *p)
{
    struct thread_products *t = own(all);
    const struct shape s = {.m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .ldb = p->b16 != NULL ? p->ldb16
                                   : p->trans_b   ? p->k
                                                  : p->n,
                            .ldc = p->ldc,
                            .trans_a = p->trans_a,
                            .trans_b = p->trans_b,
                            .beta = p->beta};
    struct product *q = find(all, t, &s);
    if (q->primitive == NULL)
        return false;
    const void *data[ARGS] = {
        rounded(&t->a, p->a, p->alpha, p->trans_a, p->m, p->k, p->lda),
        p->b16 != NULL ? p->b16 : rounded(&t->b, p->b, 1.0, p->trans_b, p->k, p->n, p->ldb), p->c,
        room_of(&t->scratch, q->scratch_bytes)};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < ARGS && status == dnnl_success; i++)
        status = dnnl_memory_set_data_handle(q->arg[i].memory, (void *)(uintptr_t)data[i]);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(q->primitive, t->stream, ARGS, q->arg);
    if (status == dnnl_out_of_memory)
        out_of_memory("a matrix product");
    BUG_UNLESS(status == dnnl_success);
    return true;
}

/* Without instructions for bf16 the library would compute in F32 as well, but slower. */
static const char *missing(void)
{
    unsigned isa = dnnl_get_effective_cpu_isa(), needed = dnnl_cpu_isa_avx512_core_bf16;
    return (isa & needed) == needed ? NULL : "this CPU has no instructions for bf16 products";
}

static void close_bf16(struct bf16_products *all)
{
    for (int i = 0; i < all->threads; i++) {
        struct thread_products *t = &all->thread[i];
        forget_all(t);
        if (t->stream != NULL)
            dnnl_stream_destroy(t->stream);
        free(t->a.data);
        free(t->b.data);
        free(t->shared_b.data);
        free(t->scratch.data);
    }
    if (all->engine != NULL)
        dnnl_engine_destroy(all->engine);
    free(all);
}

static struct bf16_products *open_bf16(int threads)
{
    threads = threads < 1 ? 1 : threads;
    struct bf16_products *all =
        calloc(1, sizeof(*all) + (size_t)threads * sizeof(struct thread_products));
    if (all == NULL)
        return NULL;
    all->threads = threads;
    dnnl_status_t status = dnnl_engine_create(&all->engine, dnnl_cpu, 0);
    for (int i = 0; i < threads && status == dnnl_success; i++)
        status = dnnl_stream_create(&all->thread[i].stream, all->engine, dnnl_stream_default_flags);
    if (status == dnnl_success)
        return all;
    close_bf16(all);
    return NULL;
}

static const struct bf16_provider bf16_onednn = {missing, open_bf16, close_bf16, multiply_bf16,
                                                 round_b};

const struct gemm_provider gemm_onednn = {"onednn", start,        library,       kernels,
                                          multiply, &bf16_onednn, &gemm_openblas};

#endif
