/* SPDX-License-Identifier: MIT */
/*
 * gemm.h: the one header of a provider: a library of matrix products behind `run.gemm`.
 *
 * A provider is a shared object with one exported function, peat_gemm_entry, which returns a static
 * const descriptor and does nothing else. It is found as gemm/NAME.so in the directories where
 * plugins are, and `run.gemm: NAME` chooses it. It may link to any library; a process that
 * multiplies nothing does not load it. It is never unloaded.
 *
 * The engine relies on this:
 *   Threads. Several threads call `multiply` at once, each with a product of its own. A call works
 *   on the calling thread alone.
 *   Bits. They depend on the product's numbers, shape and strides, never on the thread, the number
 *   of threads, or what was multiplied before. Alignment is at least that of an element.
 * The engine computes small products of F32 itself and asks a provider for all others.
 */
#ifndef PEAT_GEMM_H
#define PEAT_GEMM_H

#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEAT_GEMM_MAGIC UINT32_C(0x4d454750) /* "PGEM" in memory on a little-endian machine */
/* The version of this header; PEAT_ABI has its own. It must match exactly. */
#define PEAT_GEMM_ABI 1

/* C [m,n] = alpha op(A) op(B) + beta C. All matrices are row-major, with leading dimensions in
 * elements. op(A) is [m,k]: A is that, or with trans_a [k,m]; op(B) [k,n] likewise. m, n, k > 0.
 * beta == 0 does not read C, which may hold NaN. */
typedef struct peat_gemm_product {
    uint32_t size;    /* bytes of this struct */
    peat_dtype dtype; /* PEAT_F32 or PEAT_F64: the type of C, alpha, beta and, except for bf16, A
                       * and B */
    bool trans_a, trans_b;
    int64_t m, n, k;
    double alpha, beta; /* with PEAT_F32: values that a float holds exactly */
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    /* [n], F32, added to every row of the result; NULL: none. Set only in products for a
     * peat_gemm_bf16 with `adds_bias`. */
    const void *bias;
} peat_gemm_product;

/* Products of bf16: A and B are uint16_t, the upper halves of F32 numbers; alpha is 1; sums and C
 * are F32. Later versions append fields: a field beyond `size` is not set. */
typedef struct peat_gemm_bf16 {
    uint32_t size;
    /* NULL where this machine can multiply bf16; otherwise a sentence that says why it cannot:
     * "this CPU has no instructions for bf16 products". Static. */
    const char *(*missing)(void);
    /* Makes the state of one team of threads 0 .. threads - 1. Errors: PEAT_NOMEM. */
    peat_status (*open)(int threads, void **state);
    void (*close)(void *state);
    /* `thread` is the number of the calling thread. PEAT_REFUSED: there is no fast kernel for this
     * shape; C is unchanged, and the provider's `multiply` gets the product in F32. PEAT_NOMEM ends
     * the process. */
    peat_status (*multiply)(void *state, int thread, const peat_gemm_product *p);
    bool adds_bias; /* `multiply` adds a product's bias; otherwise products have none */
} peat_gemm_bf16;

/* LAPACK's functions for eigenvalues and singular values, for diagnoses, on one thread. They have
 * LAPACK's Fortran interface: every argument by address, integers of 32 bits, lengths of texts
 * last. */
typedef struct peat_gemm_lapack {
    uint32_t size;
    void (*dsyevd)(const char *job, const char *triangle, const int *n, double *x, const int *ld,
                   double *value, double *work, const int *n_work, int *iwork, const int *n_iwork,
                   int *info, size_t job_length, size_t triangle_length);
    void (*dgesdd)(const char *job, const int *m, const int *n, double *x, const int *ld,
                   double *value, double *u, const int *ldu, double *vt, const int *ldvt,
                   double *work, const int *n_work, int *iwork, int *info, size_t job_length);
    void (*dgeqrf)(const int *m, const int *n, double *x, const int *ld, double *tau, double *work,
                   const int *n_work, int *info);
    void (*dorgqr)(const int *m, const int *n, const int *k, double *x, const int *ld,
                   const double *tau, double *work, const int *n_work, int *info);
} peat_gemm_lapack;

/* The first three fields never change. All strings are static. */
typedef struct peat_gemm_provider {
    uint32_t magic; /* PEAT_GEMM_MAGIC */
    uint32_t size;
    uint32_t abi;        /* PEAT_GEMM_ABI */
    const char *name;    /* run.gemm's word and the file's name: lower case, digits, underscore */
    const char *summary; /* one line */
    const char *licence; /* licence of the provider: "MIT" */
    /* The name of the provider that computes the products which this one refuses and, where
     * `lapack` is NULL, provides LAPACK's functions. NULL: no such provider, and `multiply` refuses
     * nothing. The provider named has no `rest` of its own. */
    const char *rest;
    /* Called before the first product, perhaps more than once, by one thread at a time: sets the
     * library to one thread for each product, and checks that the right library was loaded. On
     * failure writes one line into `why` [n], with the reason and the remedy, and returns
     * PEAT_FAILED. */
    peat_status (*start)(char *why, size_t n);
    /* Called after start. Writes the library with its version, "OpenBLAS 0.3.21 ...", and the
     * kernels that it picked for this CPU, "SkylakeX", at most n bytes each. A result records both,
     * and a checkpoint is continued only where they are the same, so two libraries that compute
     * different bits must have different names here. */
    void (*identify)(char *library, char *kernels, size_t n);
    /* Computes one product. PEAT_REFUSED: C is unchanged, and `rest` computes it. PEAT_NOMEM ends
     * the process. */
    peat_status (*multiply)(const peat_gemm_product *p);
    const peat_gemm_bf16 *bf16;     /* NULL: no products of bf16 */
    const peat_gemm_lapack *lapack; /* NULL: no LAPACK           */
} peat_gemm_provider;

#if defined(__GNUC__)
#define PEAT_GEMM_EXPORT __attribute__((visibility("default")))
#else
#define PEAT_GEMM_EXPORT
#endif

/* Defines the entry of a provider whose descriptor is `provider_`. */
#define PEAT_GEMM_DEFINE(provider_)                                                                \
    PEAT_GEMM_EXPORT const peat_gemm_provider *peat_gemm_entry(void);                              \
    PEAT_GEMM_EXPORT const peat_gemm_provider *peat_gemm_entry(void)                               \
    {                                                                                              \
        return &(provider_);                                                                       \
    }

/* Optional: names the library whose headers the provider was built with, "OpenBLAS 0.3.21", a
 * literal. It becomes a note in the file, which `peat --version` reads without loading anything. */
#define PEAT_GEMM_NOTE                 "PEAT"
#define PEAT_GEMM_BUILT_WITH(library_) PEAT_NOTE(peat_gemm_note, PEAT_GEMM_NOTE, library_)

typedef const peat_gemm_provider *(*peat_gemm_entry_fn)(void);
#define PEAT_GEMM_ENTRY_NAME "peat_gemm_entry"

#ifdef __cplusplus
}
#endif
#endif
