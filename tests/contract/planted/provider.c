/* SPDX-License-Identifier: MIT */
/*
 * provider.c: a provider of matrix products that is one file: plain loops. With -DCRIME_<what> it
 * breaks its contract; with -DBUILT_WITH a library's name is in its file. With -DBF16 it multiplies
 * bf16 too, and adds a bias where -DADDS_BIAS says so; -DBF16_OLD: as before there were any, with
 * what stands behind its end set.
 */
#include <peat/gemm.h>
#include <stdio.h>
#include <string.h>

#include "flush.h"

#ifndef NAME
#define NAME "plain"
#endif

static peat_status start(char *why, size_t n)
{
#ifdef CRIME_no_start
    snprintf(why, n, "the moon is not full");
    return PEAT_FAILED;
#else
    (void)why, (void)n;
    return PEAT_OK;
#endif
}

static void identify(char *library, char *kernels, size_t n)
{
    snprintf(library, n, "plain loops 1");
    snprintf(kernels, n, "none");
}

static double at(const peat_gemm_product *p, const void *x, int64_t i)
{
    return p->dtype == PEAT_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void put(const peat_gemm_product *p, int64_t i, double sum)
{
    float *narrow = p->c;
    double *wide = p->c, old = p->beta == 0.0 ? 0.0 : p->beta * at(p, p->c, i);
    if (p->dtype == PEAT_F32)
        narrow[i] = (float)(p->alpha * sum + old);
    else
        wide[i] = p->alpha * sum + old;
}

static peat_status multiply(const peat_gemm_product *p)
{
#ifdef CRIME_refuses
    return PEAT_REFUSED;
#endif
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < p->k; k++)
                sum += at(p, p->a, p->trans_a ? k * p->lda + i : i * p->lda + k) *
                       at(p, p->b, p->trans_b ? j * p->ldb + k : k * p->ldb + j);
            put(p, i * p->ldc + j, sum);
        }
    return PEAT_OK;
}

#ifdef BF16_OLD
#define BF16
#define ADDS_BIAS  true
#define BF16_BYTES offsetof(peat_gemm_bf16, adds_bias)
#else
#define BF16_BYTES sizeof(peat_gemm_bf16)
#endif

#ifdef BF16
static const char *missing(void)
{
    return NULL;
}

static peat_status open_bf16(int threads, void **state)
{
    (void)threads;
    *state = NULL;
    return PEAT_OK;
}

static void close_bf16(void *state)
{
    (void)state;
}

static double widened(const void *x, int64_t i)
{
    uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float y;
    memcpy(&y, &bits, sizeof(y));
    return (double)y;
}

static peat_status multiply_bf16(void *state, int thread, const peat_gemm_product *p)
{
    (void)state, (void)thread;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < p->k; k++)
                sum += widened(p->a, p->trans_a ? k * p->lda + i : i * p->lda + k) *
                       widened(p->b, p->trans_b ? j * p->ldb + k : k * p->ldb + j);
#if defined(ADDS_BIAS) && !defined(CRIME_bias)
            sum += p->bias ? (double)((const float *)p->bias)[j] : 0.0;
#endif
            put(p, i * p->ldc + j, sum);
        }
    return PEAT_OK;
}

static const peat_gemm_bf16 bf16 = {
    .size = BF16_BYTES,
    .missing = missing,
    .open = open_bf16,
    .close = close_bf16,
    .multiply = multiply_bf16,
#ifdef ADDS_BIAS
    .adds_bias = true,
#endif
};
#endif

static const peat_gemm_provider provider = {
#ifndef CRIME_magic
    .magic = PEAT_GEMM_MAGIC,
#endif
#ifdef CRIME_size
    .size = 8,
#else
    .size = sizeof(provider),
#endif
#ifdef CRIME_abi
    .abi = 77,
#else
    .abi = PEAT_GEMM_ABI,
#endif
    .name = NAME,
    .summary = "plain loops",
    .licence = "MIT",
#ifdef CRIME_rest
    .rest = "nobody",
#endif
#ifdef CRIME_circle
    .rest = "onednn",
#endif
    .start = start,
#ifndef CRIME_no_identify
    .identify = identify,
#endif
    .multiply = multiply,
#ifdef BF16
    .bf16 = &bf16,
#endif
};
#ifndef CRIME_no_entry
PEAT_GEMM_DEFINE(provider)
#endif
#ifdef BUILT_WITH
PEAT_GEMM_BUILT_WITH(BUILT_WITH)
#endif
