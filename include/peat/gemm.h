/* SPDX-License-Identifier: MIT */
/*
 * gemm.h: the one header of a provider: a library of matrix products behind `run.gemm`.
 *
 * A provider is a shared object with one exported function, peat_gemm_entry, which returns a static
 * const descriptor and does nothing else. It is found as gemm/NAME.so in the directories where
 * plugins are, and `run.gemm: NAME` chooses it. It may link to any library; a process that
 * multiplies nothing does not load it. It is never unloaded.
 *
 * What the engine relies on:
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
/* Of this header alone, apart from PEAT_ABI. Must match exactly. */
#define PEAT_GEMM_ABI 1

/* C [m,n] = alpha op(A) op(B) + beta C. All matrices are row-major, with leading dimensions in
 * elements. op(A) is [m,k]: A is that, or with trans_a [k,m]; op(B) [k,n] likewise. m, n, k > 0.
 * beta == 0 does not read C, which may hold NaN. */
typedef struct peat_gemm_product {
    uint32_t size;    /* bytes of this struct */
    peat_dtype dtype; /* of C, alpha and beta, and but for bf16 of A and B: PEAT_F32 or PEAT_F64 */
    bool trans_a, trans_b;
    int64_t m, n, k;
    double alpha, beta; /* with PEAT_F32: exactly floats */
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    /* [n], F32, added to every row of the result; NULL: none. Of products for peat_gemm_bf16 with
     * `adds_bias` alone. */
    const void *bias;
} peat_gemm_product;

/* Products of bf16: A and B are uint16_t, the upper halves of F32 numbers; alpha is 1; sums and C
 * are F32. It grows at its end: where `size` ends before a field, that is not set. */
typedef struct peat_gemm_bf16 {
    uint32_t size;
    /* NULL, or what this machine lacks: "this CPU has no instructions for bf16 products". Static.
     */
    const char *(*missing)(void);
    /* State of one team, for threads 0 .. threads - 1. PEAT_NOMEM. */
    peat_status (*open)(int threads, void **state);
    void (*close)(void *state);
    /* thread: that calls. PEAT_REFUSED: no fast kernel for this shape; C is as it was, and
     * `multiply` gets the product in F32. PEAT_NOMEM. */
    peat_status (*multiply)(void *state, int thread, const peat_gemm_product *p);
    bool adds_bias; /* `multiply` adds a product's bias; otherwise none is given to it */
} peat_gemm_bf16;

/* Eigenvalues and singular values for diagnoses: LAPACK's functions, on one thread, by its Fortran
 * interface: everything by address, integers of 32 bits, lengths of texts last. */
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
    const char *licence; /* of the provider, "MIT" */
    /* The provider that gets the products which this one refuses, and what else this one lacks;
     * NULL: there is none, and `multiply` refuses nothing. It has no `rest` of its own. */
    const char *rest;
    /* Before the first product, perhaps more than once, on any one thread: tells the library to use
     * one thread for each product, and looks whether it is the right one. Otherwise writes into
     * `why` [n] what is wrong and how to mend it, one line, and returns PEAT_FAILED. */
    peat_status (*start)(char *why, size_t n);
    /* After start. The library with its version, "OpenBLAS 0.3.21 ...", and the kernels that it
     * picked for this CPU, "SkylakeX": a result records both, and a checkpoint is continued only
     * where they are the same, so they tell apart whatever has other bits. At most n bytes each. */
    void (*identify)(char *library, char *kernels, size_t n);
    /* PEAT_REFUSED: `rest` is to do it; C is as it was. PEAT_NOMEM ends the process. */
    peat_status (*multiply)(const peat_gemm_product *p);
    const peat_gemm_bf16 *bf16;     /* NULL: it has none */
    const peat_gemm_lapack *lapack; /* NULL: likewise    */
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

/* Optional: the library whose headers it was built with, "OpenBLAS 0.3.21", a literal. It is a note
 * in the file, which `peat --version` reads without loading anything. */
#define PEAT_GEMM_NOTE "PEAT"
#if defined(__GNUC__) && defined(__ELF__)
#define PEAT_GEMM_BUILT_WITH(library_)                                                             \
    static const struct {                                                                          \
        uint32_t owner_bytes, text_bytes, type;                                                    \
        char owner[8], text[sizeof(library_)];                                                     \
    } peat_gemm_note __attribute__((section(".note.peat"), aligned(4), used)) = {                  \
        sizeof(PEAT_GEMM_NOTE), sizeof(library_), 1, PEAT_GEMM_NOTE, library_};
#else
#define PEAT_GEMM_BUILT_WITH(library_)
#endif

typedef const peat_gemm_provider *(*peat_gemm_entry_fn)(void);
#define PEAT_GEMM_ENTRY_NAME "peat_gemm_entry"

#ifdef __cplusplus
}
#endif
#endif
