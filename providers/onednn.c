/* SPDX-License-Identifier: MIT */
/*
 * onednn.c: products by oneDNN, on one thread each. It leaves very small ones and those in double
 * precision, which oneDNN has none of, to OpenBLAS.
 *
 * It packs less than OpenBLAS does for the tall and skinny products of small models and for those
 * of one attention head. Threads: it asks the OpenMP runtime, which the engine has set to one
 * outside regions, and uses one inside.
 *
 * Products of bf16 are "primitives", made for a shape in about a millisecond and then kept, apart
 * for each thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <peat/gemm.h>

#include "onednn_interface.h"

static peat_status start(char *why, size_t n)
{
    (void)why, (void)n;
    return PEAT_OK;
}

static void identify(char *library, char *kernels, size_t n)
{
    const dnnl_version_t *v = dnnl_version();
    snprintf(library, n, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    snprintf(kernels, n, "%s", instructions_of(dnnl_get_effective_cpu_isa()));
}

/* Below this OpenBLAS is faster, and a model that has no larger products spares itself the
 * compiling of kernels when they are first used (40 ms). */
enum { SMALL = 32 * 32 * 32 };

static peat_status multiply(const peat_gemm_product *p)
{
    if (p->dtype != PEAT_F32 || p->m * p->n * p->k < SMALL)
        return PEAT_REFUSED;
    /* With valid sizes only memory can fail. */
    dnnl_status_t status =
        dnnl_sgemm(p->trans_a ? 'T' : 'N', p->trans_b ? 'T' : 'N', p->m, p->n, p->k,
                   (float)p->alpha, p->a, p->lda, p->b, p->ldb, (float)p->beta, p->c, p->ldc);
    return status == dnnl_success ? PEAT_OK : PEAT_NOMEM;
}

/* --- bf16 --------------------------------------------------------------------------------- */

/* The key of a primitive; compared as bytes, so it has no padding. */
struct shape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;
    int64_t trans_a, trans_b;
    int64_t bias; /* whether there is one */
    double beta;
};

enum { SCRATCH = 3, BIAS, ARGS, TABLE = 1024, MOST_PRIMITIVES = TABLE / 2 };

struct product {
    struct shape shape;
    bool used;
    dnnl_primitive_t primitive; /* NULL: no kernel for this shape */
    dnnl_exec_arg_t arg[ARGS];  /* A, B, C, scratch, bias         */
    size_t scratch_bytes;
};

struct thread_products {
    dnnl_stream_t stream;
    int n;
    struct product table[TABLE]; /* by hash, next free place */
    void *scratch;               /* grows                   */
    size_t scratch_bytes;
};

struct products {
    dnnl_engine_t engine;
    int threads;
    struct thread_products thread[];
};

/* False: no memory. */
static bool make_room(struct thread_products *t, size_t bytes)
{
    enum { LINE = 64 };
    if (bytes <= t->scratch_bytes)
        return true;
    free(t->scratch);
    t->scratch_bytes = (bytes + bytes / 4 + LINE - 1) / LINE * LINE;
    t->scratch = aligned_alloc(LINE, t->scratch_bytes);
    if (t->scratch == NULL)
        t->scratch_bytes = 0;
    return t->scratch != NULL;
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

/* Scratch memory is the caller's: the library's own belongs to the thread that made the primitive.
 */
static dnnl_status_t attributes(const struct shape *s, dnnl_primitive_attr_t attr)
{
    dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_post_ops_t add = NULL;
    if (status == dnnl_success && s->beta != 0.0) {
        status = dnnl_post_ops_create(&add);
        if (status == dnnl_success)
            status = append_sum(add, (float)s->beta);
        if (status == dnnl_success)
            status = dnnl_primitive_attr_set_post_ops(attr, add);
        dnnl_post_ops_destroy(add);
    }
    return status;
}

static dnnl_status_t plan_product(const struct shape *s, dnnl_engine_t engine,
                                  dnnl_primitive_desc_t *plan)
{
    const struct layout a = {dnnl_bf16, s->m, s->k, s->trans_a, s->lda},
                        b = {dnnl_bf16, s->k, s->n, s->trans_b, s->ldb},
                        c = {dnnl_f32, s->m, s->n, false, s->ldc},
                        bias = {dnnl_f32, 1, s->n, false, s->n};
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (status == dnnl_success)
        status = attributes(s, attr);
    if (status == dnnl_success)
        status = plan_matmul(plan, engine, &a, &b, s->bias ? &bias : NULL, &c, attr);
    if (attr != NULL)
        dnnl_primitive_attr_destroy(attr);
    return status;
}

static int n_args(const struct shape *s)
{
    return s->bias ? ARGS : BIAS;
}

static dnnl_status_t make_arguments(struct product *p, const_dnnl_primitive_desc_t plan,
                                    dnnl_engine_t engine)
{
    static const struct {
        int name;
        dnnl_query_t query;
        int which;
    } arg[ARGS] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                   {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                   {DNNL_ARG_DST, dnnl_query_dst_md, 0},
                   {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, 0},
                   {DNNL_ARG_BIAS, dnnl_query_weights_md, 1}};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < n_args(&p->shape) && status == dnnl_success; i++) {
        memory_view desc = dnnl_primitive_desc_query_md(plan, arg[i].query, arg[i].which);
        p->arg[i].arg = arg[i].name;
        if (i == SCRATCH)
            p->scratch_bytes = dnnl_memory_desc_get_size(desc);
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

/* PEAT_OK without a primitive: the library has no fast kernel for the shape. */
static peat_status make(struct product *p, dnnl_engine_t engine)
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
    return status == dnnl_success || status == dnnl_unimplemented ? PEAT_OK
           : status == dnnl_out_of_memory                         ? PEAT_NOMEM
                                                                  : PEAT_FAILED;
}

static uint64_t hash_of(const struct shape *s)
{
    const int64_t part[] = {s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->trans_a, s->trans_b};
    uint64_t hash = (s->beta != 0.0) + 2 * (uint64_t)s->bias;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        hash = (hash ^ (uint64_t)part[i]) * 0x9e3779b97f4a7c15u;
    return hash >> 32;
}

static peat_status find(struct products *all, struct thread_products *t, const struct shape *s,
                        struct product **found)
{
    struct product *p;
    uint64_t at = hash_of(s);
    for (; (p = &t->table[at % TABLE])->used; at++)
        if (memcmp(&p->shape, s, sizeof(*s)) == 0) {
            *found = p;
            return PEAT_OK;
        }
    if (t->n == MOST_PRIMITIVES) {
        forget_all(t);
        p = &t->table[hash_of(s) % TABLE];
    }
    *p = (struct product){.shape = *s, .used = true};
    *found = p;
    t->n++;
    return make(p, all->engine);
}

static peat_status run(struct thread_products *t, struct product *q, const peat_gemm_product *p)
{
    if (!make_room(t, q->scratch_bytes))
        return PEAT_NOMEM;
    const void *data[ARGS] = {p->a, p->b, p->c, t->scratch, p->bias};
    const int n = n_args(&q->shape);
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < n && status == dnnl_success; i++)
        status = dnnl_memory_set_data_handle(q->arg[i].memory, (void *)(uintptr_t)data[i]);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(q->primitive, t->stream, n, q->arg);
    return status == dnnl_success         ? PEAT_OK
           : status == dnnl_out_of_memory ? PEAT_NOMEM
                                          : PEAT_FAILED;
}

static float widened(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof(y));
    return y;
}

/* For rows or columns with gaps, which the library gets wrong and few products have. */
static void multiply_plainly(const peat_gemm_product *p)
{
    const uint16_t *a = p->a, *b = p->b;
    const float *bias = p->bias;
    int64_t a_row = p->trans_a ? 1 : p->lda, a_step = p->trans_a ? p->lda : 1;
    int64_t b_column = p->trans_b ? p->ldb : 1, b_step = p->trans_b ? 1 : p->ldb;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float *c = (float *)p->c + i * p->ldc + j, sum = 0.0f;
            for (int64_t k = 0; k < p->k; k++)
                sum += widened(a[i * a_row + k * a_step]) * widened(b[j * b_column + k * b_step]);
            sum += bias != NULL ? bias[j] : 0.0f;
            *c = p->beta == 0.0 ? sum : (float)p->beta * *c + sum;
        }
}

static bool must_be_plain(const peat_gemm_product *p)
{
    return gaps_are_lost(p->m, p->k, p->trans_a, p->lda) ||
           gaps_are_lost(p->k, p->n, p->trans_b, p->ldb) ||
           gaps_are_lost(p->m, p->n, false, p->ldc);
}

static peat_status multiply_bf16(void *state, int thread, const peat_gemm_product *p)
{
    struct products *all = state;
    struct thread_products *t = &all->thread[thread];
    const struct shape s = {.m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .lda = p->lda,
                            .ldb = p->ldb,
                            .ldc = p->ldc,
                            .trans_a = p->trans_a,
                            .trans_b = p->trans_b,
                            .bias = p->bias != NULL,
                            .beta = p->beta};
    if (must_be_plain(p)) {
        multiply_plainly(p);
        return PEAT_OK;
    }
    struct product *q;
    peat_status status = find(all, t, &s, &q);
    if (status != PEAT_OK)
        return status;
    return q->primitive != NULL ? run(t, q, p) : PEAT_REFUSED;
}

/* Without instructions for bf16 the library would compute in F32 as well, but slower. */
static const char *missing(void)
{
    unsigned isa = dnnl_get_effective_cpu_isa(), needed = dnnl_cpu_isa_avx512_core_bf16;
    return (isa & needed) == needed ? NULL : "this CPU has no instructions for bf16 products";
}

static void close_bf16(void *state)
{
    struct products *all = state;
    for (int i = 0; i < all->threads; i++) {
        struct thread_products *t = &all->thread[i];
        forget_all(t);
        if (t->stream != NULL)
            dnnl_stream_destroy(t->stream);
        free(t->scratch);
    }
    if (all->engine != NULL)
        dnnl_engine_destroy(all->engine);
    free(all);
}

static peat_status open_bf16(int threads, void **state)
{
    struct products *all =
        calloc(1, sizeof(*all) + (size_t)threads * sizeof(struct thread_products));
    if (all == NULL)
        return PEAT_NOMEM;
    all->threads = threads;
    dnnl_status_t status = dnnl_engine_create(&all->engine, dnnl_cpu, 0);
    for (int i = 0; i < threads && status == dnnl_success; i++)
        status = dnnl_stream_create(&all->thread[i].stream, all->engine, dnnl_stream_default_flags);
    if (status == dnnl_success) {
        *state = all;
        return PEAT_OK;
    }
    close_bf16(all);
    return PEAT_NOMEM;
}

static const peat_gemm_bf16 bf16 = {
    .size = sizeof(bf16),
    .missing = missing,
    .open = open_bf16,
    .close = close_bf16,
    .multiply = multiply_bf16,
    .adds_bias = true,
};

static const peat_gemm_provider provider = {
    .magic = PEAT_GEMM_MAGIC,
    .size = sizeof(provider),
    .abi = PEAT_GEMM_ABI,
    .name = "onednn",
    .summary = "oneDNN: single precision and bf16; the rest by OpenBLAS",
    .licence = "MIT",
    .rest = "openblas",
    .start = start,
    .identify = identify,
    .multiply = multiply,
    .bf16 = &bf16,
};
PEAT_GEMM_DEFINE(provider)

#define LITERAL(x)       #x
#define VERSION(a, b, c) "oneDNN " LITERAL(a) "." LITERAL(b) "." LITERAL(c)
PEAT_GEMM_BUILT_WITH(VERSION(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH))
