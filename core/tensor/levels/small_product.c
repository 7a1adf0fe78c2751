/* SPDX-License-Identifier: MIT */
/* small_product.c: small_product.h for one level of instructions, tile by tile in registers. */
#include "tensor/small_product.h"

/* ---- vectors of this level ---- */

#if defined(__AVX512F__)
#include <immintrin.h>
enum { WIDE = 16, VECTORS_MOST = 4 };
typedef __m512 vec;
typedef __mmask16 part; /* a mask of the first lanes */
#define vec_all(x)             _mm512_set1_ps(x)
#define vec_get(x)             _mm512_loadu_ps(x)
#define vec_get_part(x, of)    _mm512_maskz_loadu_ps(of, x)
#define vec_put_part(x, of, y) _mm512_mask_storeu_ps(x, of, y)
#define vec_fma(a, b, c)       _mm512_fmadd_ps(a, b, c)
VEC_INLINE part first(int64_t n)
{
    return (part)(n >= WIDE ? 0xffff : (1u << n) - 1);
}
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum { WIDE = 8, VECTORS_MOST = 2 };
typedef __m256 vec;
typedef __m256i part;
#define vec_all(x)          _mm256_set1_ps(x)
#define vec_get(x)          _mm256_loadu_ps(x)
#define vec_get_part(x, of) _mm256_maskload_ps(x, of)
#define vec_fma(a, b, c)    _mm256_fmadd_ps(a, b, c)
/* Stores under a mask take tens of cycles on some of these processors. */
VEC_INLINE void vec_put_part(float *x, part of, vec y)
{
    if (_mm256_movemask_ps(_mm256_castsi256_ps(of)) == 0xff)
        _mm256_storeu_ps(x, y);
    else
        _mm256_maskstore_ps(x, of, y);
}
VEC_INLINE part first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n > WIDE ? WIDE : (int)n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#else
enum { WIDE = 4, VECTORS_MOST = 2 };
typedef float vec __attribute__((vector_size(16)));
typedef int64_t part;
#define vec_all(x) ((vec){(x), (x), (x), (x)})
#define vec_get(x) vec_get_part(x, WIDE)
VEC_INLINE part first(int64_t n)
{
    return n > WIDE ? WIDE : n;
}
VEC_INLINE vec vec_get_part(const float *x, part of)
{
    vec y = {0};
    for (int64_t l = 0; l < of; l++)
        y[l] = x[l];
    return y;
}
VEC_INLINE void vec_put_part(float *x, part of, vec y)
{
    for (int64_t l = 0; l < of; l++)
        x[l] = y[l];
}
VEC_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return (vec){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]), fmaf(a[2], b[2], c[2]),
                 fmaf(a[3], b[3], c[3])};
}
#endif

/* ---- tiles ---- */

enum { ROWS_MOST = 8 };

/* Some columns of a product, at most VECTORS_MOST vectors wide. */
struct stripe {
    const peat_gemm_product *p;
    struct lower lower;
    const float *b; /* [k, whole vectors], rows b_step apart */
    int64_t b_step;
    int64_t j; /* the first column */
    part last; /* lanes used in the last vector */
};

/* Stores the sums in C. What it reads of s is copied first: a store to C might change it, for all
 * that the compiler knows. */
VEC_INLINE void put_sums(const struct stripe *s, int64_t i, vec sum[ROWS_MOST][VECTORS_MOST],
                         const int rows, const int vectors)
{
    const peat_gemm_product *p = s->p;
    const vec alpha = vec_all((float)p->alpha), beta = vec_all((float)p->beta);
    const bool adds = p->beta != 0.0;
    const part all = first(WIDE), last = s->last;
    const int64_t ldc = p->ldc;
    float *c = (float *)p->c + i * ldc + s->j;
    UNROLLED(r, rows)
        UNROLLED(v, vectors) {
            const part of = v == vectors - 1 ? last : all;
            float *to = c + r * ldc + v * WIDE;
            vec y = alpha * sum[r][v];
            if (adds)
                y += beta * vec_get_part(to, of);
            vec_put_part(to, of, y);
        }
}

VEC_INLINE int64_t between(int64_t lo, int64_t x, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Computes rows [i, i + rows). across: A is transposed. */
VEC_INLINE void tile(const struct stripe *s, int64_t i, const bool across, const int rows,
                     const int vectors)
{
    const peat_gemm_product *p = s->p;
    const int64_t a_row = across ? 1 : p->lda, a_k = across ? p->lda : 1;
    const bool lower = s->lower.operand == LOWER_A;
    int64_t k = lower && across ? between(0, i - s->lower.diagonal, p->k) : 0;
    const int64_t end = lower && !across ? between(0, i + rows + s->lower.diagonal, p->k) : p->k;
    const float *a = (const float *)p->a + i * a_row + k * a_k, *b = s->b + k * s->b_step;
    vec sum[ROWS_MOST][VECTORS_MOST];
    UNROLLED(r, rows)
        UNROLLED(v, vectors)
            sum[r][v] = vec_all(0.0f);
    for (; k < end; k++, a += a_k, b += s->b_step) {
        vec right[VECTORS_MOST];
        UNROLLED(v, vectors)
            right[v] = vec_get(b + v * WIDE);
        UNROLLED(r, rows) {
            const vec left = vec_all(a[r * a_row]);
            UNROLLED(v, vectors)
                sum[r][v] = vec_fma(left, right[v], sum[r][v]);
        }
    }
    put_sums(s, i, sum, rows, vectors);
}

/* The first row that needs a stripe. */
static int64_t first_row(const struct stripe *s)
{
    return s->lower.operand == LOWER_C ? between(0, s->j - s->lower.diagonal, s->p->m) : 0;
}

/* Computes these rows of a stripe, as many at once as registers hold. */
#define STRIPE(name, across, rows, vectors)                                                        \
    static void name(const struct stripe *s)                                                       \
    {                                                                                              \
        int64_t i = first_row(s), m = s->p->m;                                                     \
        for (; i + (rows) <= m; i += (rows))                                                       \
            tile(s, i, across, rows, vectors);                                                     \
        for (; i + 4 <= m; i += 4)                                                                 \
            tile(s, i, across, 4, vectors);                                                        \
        for (; i < m; i++)                                                                         \
            tile(s, i, across, 1, vectors);                                                        \
    }
#if defined(__AVX512F__)
#define STRIPES(name, across)                                                                      \
    STRIPE(name##_1, across, 8, 1)                                                                 \
    STRIPE(name##_2, across, 8, 2)                                                                 \
    STRIPE(name##_3, across, 8, 3)                                                                 \
    STRIPE(name##_4, across, 6, 4)                                                                 \
    static stripe_fn *const name[] = {name##_1, name##_2, name##_3, name##_4};
#else
#define STRIPES(name, across)                                                                      \
    STRIPE(name##_1, across, 8, 1)                                                                 \
    STRIPE(name##_2, across, 6, 2)                                                                 \
    static stripe_fn *const name[] = {name##_1, name##_2};
#endif
typedef void stripe_fn(const struct stripe *s);
STRIPES(upright, false)
STRIPES(across, true)

/* ---- packed columns of B ---- */

typedef float four __attribute__((vector_size(16), aligned(4)));

/* to [4, 4], rows `width` apart, is the transpose of b [4, 4], rows `step` apart. */
VEC_INLINE void transpose_fours(float *to, int64_t width, const float *b, int64_t step)
{
    const four x0 = *(const four *)b, x1 = *(const four *)(b + step),
               x2 = *(const four *)(b + 2 * step), x3 = *(const four *)(b + 3 * step);
    const four low = __builtin_shufflevector(x0, x1, 0, 4, 1, 5),
               high = __builtin_shufflevector(x0, x1, 2, 6, 3, 7),
               low2 = __builtin_shufflevector(x2, x3, 0, 4, 1, 5),
               high2 = __builtin_shufflevector(x2, x3, 2, 6, 3, 7);
    *(four *)to = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
    *(four *)(to + width) = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
    *(four *)(to + 2 * width) = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
    *(four *)(to + 3 * width) = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}

/* to [k, width] = the transpose of b [n, k], rows `step` apart; zeros from column n on. */
static void transpose(float *to, int64_t width, const float *b, int64_t step, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < width; j += 4)
        for (int64_t i = 0; i < k; i += 4) {
            if (j + 4 <= n && i + 4 <= k) {
                transpose_fours(to + i * width + j, width, b + j * step + i, step);
                continue;
            }
            for (int64_t r = i; r < k && r < i + 4; r++)
                for (int64_t c = j; c < j + 4; c++)
                    to[r * width + c] = c < n ? b[c * step + r] : 0.0f;
        }
}

/* to [k, width] = b [k, n], rows `step` apart; zeros from column n on. */
static void widen(float *to, int64_t width, const float *b, int64_t step, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < width; j++)
            to[i * width + j] = j < n ? b[i * step + j] : 0.0f;
}

/* ---- products ---- */

/* Number of vectors of the stripe that begins at j, if a panel holds `room` numbers. A panel is for
 * columns that are not whole vectors in memory: loads under a mask are slow without AVX-512. */
static int64_t vectors_of(const peat_gemm_product *p, int64_t j, int64_t room, bool *packs)
{
    const int64_t left = (p->n - j + WIDE - 1) / WIDE, fit = room / (p->k * WIDE);
    int64_t vectors = left < VECTORS_MOST ? left : VECTORS_MOST;
    *packs = p->trans_b || j + vectors * WIDE > p->n;
    return *packs && fit < vectors ? fit : vectors;
}

static void multiply(const peat_gemm_product *p, struct lower lower)
{
    enum { ROOM = 16 * SMALL_PRODUCT_DEEPEST };
    _Static_assert(ROOM >= WIDE * SMALL_PRODUCT_DEEPEST, "one vector of columns fits");
    _Alignas(64) float panel[ROOM];
    struct stripe s = {.p = p, .lower = lower};
    bool packs;
    for (int64_t vectors; s.j < p->n; s.j += vectors * WIDE) {
        vectors = vectors_of(p, s.j, ROOM, &packs);
        s.last = first(p->n - s.j - (vectors - 1) * WIDE);
        s.b = (const float *)p->b + s.j * (p->trans_b ? p->ldb : 1);
        s.b_step = packs ? vectors * WIDE : p->ldb;
        if (packs) {
            (p->trans_b ? transpose : widen)(panel, s.b_step, s.b, p->ldb, p->n - s.j, p->k);
            s.b = panel;
        }
        stripe_fn *const run = p->trans_a ? across[vectors - 1] : upright[vectors - 1];
        run(&s);
    }
}

const struct small_product AT_LEVEL(small_product) = {multiply};
