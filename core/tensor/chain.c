/* SPDX-License-Identifier: MIT */
/* chain.c: sixteen chains side by side in each vector, tile by tile in registers. */
#include "chain.h"

#include "base/error.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include "lanes512.h"

bool chain_available(void)
{
    return __builtin_cpu_supports("avx512f");
}

enum { ROWS_MOST = 8, VECTORS_MOST = 4 };

/* Some columns of a product, up to four vectors. */
struct stripe {
    const peat_gemm_product *p;
    const float *b; /* [k, whole vectors], rows b_step apart */
    int64_t b_step;
    int64_t j; /* the first */
    __mmask16 last;
    float alpha;
    bool fused;
};

LANES512_INLINE __m512 part_of(const float *x, bool in_part, __mmask16 lanes)
{
    return in_part ? _mm512_maskz_loadu_ps(lanes, x) : _mm512_loadu_ps(x);
}

/* Rows [i, i + rows); the last of the vectors in part. */
LANES512_INLINE void tile(const struct stripe *s, int64_t i, const bool across, const int rows,
                          const int vectors)
{
    const peat_gemm_product *p = s->p;
    const int64_t a_row = across ? 1 : p->lda, a_k = across ? p->lda : 1;
    const float *a = (const float *)p->a + i * a_row, *b = s->b;
    __m512 sum[ROWS_MOST][VECTORS_MOST];
    UNROLLED(r, rows, 1)
        UNROLLED(v, vectors, 1)
            sum[r][v] = _mm512_setzero_ps();
    for (int64_t k = 0; k < p->k; k++, a += a_k, b += s->b_step) {
        __m512 right[VECTORS_MOST];
        UNROLLED(v, vectors, 1)
            right[v] = part_of(b + v * LANES, v == vectors - 1, s->last);
        UNROLLED(r, rows, 1) {
            __m512 left = _mm512_set1_ps(a[r * a_row]);
            UNROLLED(v, vectors, 1)
                sum[r][v] = _mm512_fmadd_ps(left, right[v], sum[r][v]);
        }
    }
    const __m512 alpha = _mm512_set1_ps(s->alpha);
    float *c = (float *)p->c + i * p->ldc + s->j;
    UNROLLED(r, rows, 1)
        UNROLLED(v, vectors, 1) {
            const __mmask16 lanes = v == vectors - 1 ? s->last : (__mmask16)0xffff;
            float *to = c + r * p->ldc + v * LANES;
            __m512 y = _mm512_mul_ps(alpha, sum[r][v]);
            if (p->beta != 0.0) {
                __m512 old = _mm512_maskz_loadu_ps(lanes, to);
                y = s->fused ? _mm512_fmadd_ps(alpha, sum[r][v], old) : _mm512_add_ps(old, y);
            }
            _mm512_mask_storeu_ps(to, lanes, y);
        }
}

/* All rows of a stripe; wide tiles are low, for want of registers. */
#define STRIPE(name, across, rows, vectors)                                                        \
    LANES512_CPU static void name(const struct stripe *s)                                          \
    {                                                                                              \
        int64_t i = 0, m = s->p->m;                                                                \
        for (; i + (rows) <= m; i += (rows))                                                       \
            tile(s, i, across, rows, vectors);                                                     \
        for (; i + 4 <= m; i += 4)                                                                 \
            tile(s, i, across, 4, vectors);                                                        \
        for (; i < m; i++)                                                                         \
            tile(s, i, across, 1, vectors);                                                        \
    }
STRIPE(stripe_of_16, false, 8, 1)
STRIPE(stripe_of_32, false, 8, 2)
STRIPE(stripe_of_48, false, 8, 3)
STRIPE(stripe_of_64, false, 6, 4)
STRIPE(across_of_16, true, 8, 1)
STRIPE(across_of_32, true, 8, 2)
STRIPE(across_of_48, true, 8, 3)
STRIPE(across_of_64, true, 6, 4)

/* to [k, width] = scale b' of the columns [j, j + n), b [columns, k]; 0 up to the width. */
LANES512_CPU static void pack_across(float *to, int64_t width, const peat_gemm_product *p,
                                     int64_t j, int64_t n, float scale)
{
    const __m512 factor = _mm512_set1_ps(scale);
    const float *b = (const float *)p->b + j * p->ldb;
    for (int64_t column = 0; column < width; column += LANES)
        for (int64_t k = 0; k < p->k; k += LANES) {
            __m512i block[LANES];
            const __mmask16 lanes = first_lanes(p->k - k);
            UNROLLED(r, LANES, 1)
                block[r] = column + r < n
                               ? _mm512_maskz_loadu_epi32(lanes, b + (column + r) * p->ldb + k)
                               : _mm512_setzero_si512();
            turn(block);
            for (int r = 0; r < LANES && k + r < p->k; r++)
                _mm512_storeu_ps(to + (k + r) * width + column,
                                 _mm512_mul_ps(factor, _mm512_castsi512_ps(block[r])));
        }
}

/* k of CHAIN_DEEPEST at most */
LANES512_CPU static void multiply_piece(const peat_gemm_product *p, enum chain_sum sum,
                                        float *panel)
{
    static void (*const stripe[2][VECTORS_MOST])(const struct stripe *) = {
        {stripe_of_16, stripe_of_32, stripe_of_48, stripe_of_64},
        {across_of_16, across_of_32, across_of_48, across_of_64}};
    const float alpha = (float)p->alpha, before = sum == CHAIN_SCALED_RIGHT ? alpha : 1.0f;
    struct stripe s = {.p = p,
                       .b_step = p->ldb,
                       .alpha = sum == CHAIN_SCALED_RIGHT ? 1.0f : alpha,
                       .fused = sum == CHAIN_FUSED_SUM};
    for (int64_t vectors; s.j < p->n; s.j += vectors * LANES) {
        const int64_t left = p->n - s.j, all = (left + LANES - 1) / LANES;
        vectors = all < VECTORS_MOST ? all : VECTORS_MOST;
        s.last = first_lanes(left - (vectors - 1) * LANES);
        s.b = (const float *)p->b + s.j;
        if (p->trans_b) {
            pack_across(panel, vectors * LANES, p, s.j, left, before);
            s.b = panel;
            s.b_step = vectors * LANES;
        }
        stripe[p->trans_a][vectors - 1](&s);
    }
}

static int64_t piece_of(int64_t left, enum chain_cut cut)
{
    if (left <= CHAIN_DEEPEST)
        return left;
    return cut == CHAIN_STRAIGHT || left >= 2 * CHAIN_DEEPEST ? CHAIN_DEEPEST : (left + 1) / 2;
}

void chain_multiply(const peat_gemm_product *p, struct chain_way way, float *panel)
{
    peat_gemm_product piece = *p;
    for (int64_t at = 0; at < p->k; at += piece.k) {
        piece.k = piece_of(p->k - at, way.cut);
        piece.a = (const float *)p->a + at * (p->trans_a ? p->lda : 1);
        piece.b = (const float *)p->b + at * (p->trans_b ? 1 : p->ldb);
        piece.beta = at == 0 ? p->beta : 1.0;
        multiply_piece(&piece, way.sum, panel);
    }
}

#else

bool chain_available(void)
{
    return false;
}

void chain_multiply(const peat_gemm_product *p, struct chain_way way, float *panel)
{
    (void)p, (void)way, (void)panel;
    BUG("this CPU has no products by chains");
}

#endif
