/* SPDX-License-Identifier: MIT */
/*
 * onednn_interface.h: what onednn.c uses of oneDNN and versions 2 and 3 spell differently.
 *
 * Version 3 has no descriptors of operations, keeps descriptions of memory behind pointers, and
 * asks more of a sum. ONEDNN_INTERFACE, 2 or 3, comes from cmake/PeatDependencies.cmake.
 */
#ifndef PROVIDERS_ONEDNN_INTERFACE_H
#define PROVIDERS_ONEDNN_INTERFACE_H

#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>

/* A matrix in memory: rows of `ld` elements, or with `trans` columns. */
struct layout {
    dnnl_data_type_t type;
    int64_t rows, cols;
    bool trans;
    int64_t ld;
};

/* oneDNN 3.7 multiplies bf16 as if a matrix of one row or one column had no gaps, whatever its
 * strides say. */
static inline bool gaps_are_lost(int64_t rows, int64_t cols, bool trans, int64_t ld)
{
    bool has_gaps = ld != 1 && (trans ? rows == 1 && cols > 1 : cols == 1 && rows > 1);
    return ONEDNN_INTERFACE >= 3 && has_gaps;
}

/* Of a primitive's argument; belongs to the primitive's plan. */
#if ONEDNN_INTERFACE >= 3
typedef const_dnnl_memory_desc_t memory_view;
#else
typedef const dnnl_memory_desc_t *memory_view;
#endif

static inline dnnl_status_t describe(dnnl_memory_desc_t *desc, const struct layout *l)
{
    const dnnl_dims_t dims = {l->rows, l->cols},
                      strides = {l->trans ? 1 : l->ld, l->trans ? l->ld : 1};
#if ONEDNN_INTERFACE >= 3
    return dnnl_memory_desc_create_with_strides(desc, 2, dims, l->type, strides);
#else
    return dnnl_memory_desc_init_by_strides(desc, 2, dims, l->type, strides);
#endif
}

/* result = product + scale * result */
static inline dnnl_status_t append_sum(dnnl_post_ops_t ops, float scale)
{
#if ONEDNN_INTERFACE >= 3
    return dnnl_post_ops_append_sum(ops, scale, 0, dnnl_data_type_undef);
#else
    return dnnl_post_ops_append_sum(ops, scale);
#endif
}

/* c = a b, and every row plus `bias`, one row; NULL: none */
static inline dnnl_status_t plan_matmul(dnnl_primitive_desc_t *plan, dnnl_engine_t engine,
                                        const struct layout *a, const struct layout *b,
                                        const struct layout *bias, const struct layout *c,
                                        const_dnnl_primitive_attr_t attr)
{
    enum { A, B, BIAS, C, N };
    const struct layout *const layout[N] = {a, b, bias, c};
    dnnl_status_t status = dnnl_success;
#if ONEDNN_INTERFACE >= 3
    dnnl_memory_desc_t desc[N] = {NULL, NULL, NULL, NULL};
    for (int i = 0; i < N && status == dnnl_success; i++)
        if (layout[i] != NULL)
            status = describe(&desc[i], layout[i]);
    if (status == dnnl_success)
        status = dnnl_matmul_primitive_desc_create(plan, engine, desc[A], desc[B], desc[BIAS],
                                                   desc[C], attr);
    for (int i = 0; i < N; i++)
        if (desc[i] != NULL)
            dnnl_memory_desc_destroy(desc[i]);
#else
    dnnl_memory_desc_t desc[N];
    dnnl_matmul_desc_t product;
    for (int i = 0; i < N && status == dnnl_success; i++)
        if (layout[i] != NULL)
            status = describe(&desc[i], layout[i]);
    if (status == dnnl_success)
        status = dnnl_matmul_desc_init(&product, &desc[A], &desc[B],
                                       bias != NULL ? &desc[BIAS] : NULL, &desc[C]);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(plan, &product, attr, engine, NULL);
#endif
    return status;
}

/* The name of a level of instructions. */
static inline const char *instructions_of(dnnl_cpu_isa_t isa)
{
    switch ((int)isa) {
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
#if ONEDNN_INTERFACE >= 3
    case dnnl_cpu_isa_avx2_vnni_2:
        return "avx2_vnni_2";
    case dnnl_cpu_isa_avx512_core_fp16:
        return "avx512_core_fp16";
    case dnnl_cpu_isa_avx512_core_amx_fp16:
        return "avx512_core_amx_fp16";
#endif
    default:
        return "other";
    }
}

#endif
