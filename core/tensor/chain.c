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

LANES512_INLINE void put_sum(const struct stripe *s, float *c, __mmask16 lanes, __m512 sum)
{
    const __m512 alpha = _mm512_set1_ps(s->alpha);
    __m512 y = _mm512_mul_ps(alpha, sum);
    if (s->p->beta != 0.0) {
        __m512 old = _mm512_maskz_loadu_ps(lanes, c);
        y = s->fused ? _mm512_fmadd_ps(alpha, sum, old) : _mm512_add_ps(old, y);
    }
    _mm512_mask_storeu_ps(c, lanes, y);
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
    float *c = (float *)p->c + i * p->ldc + s->j;
    UNROLLED(r, rows, 1)
        UNROLLED(v, vectors, 1)
            put_sum(s, c + r * p->ldc + v * LANES, v == vectors - 1 ? s->last : (__mmask16)0xffff,
                    sum[r][v]);
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

/* A block of b' [sixteen columns, k], n of them, that is to be turned and scaled. */
struct corner {
    const float *b;
    int64_t step, n, deep;
    __m512 factor;
    float *to;
    int64_t width; /* between rows of `to` */
};

LANES512_INLINE __m512i corner_row(const struct corner *c, int64_t at, __mmask16 lanes)
{
    return _mm512_maskz_loadu_epi32(at < c->n ? lanes : 0, c->b + at * c->step);
}

LANES512_INLINE void put_turned(const struct corner *c, const __m512i block[], const int rows)
{
    UNROLLED(r, rows, 1)
        if (r < c->deep)
            _mm512_storeu_ps(c->to + r * c->width,
                             _mm512_mul_ps(c->factor, _mm512_castsi512_ps(block[r])));
}

LANES512_CPU static void turn_corner(const struct corner *c)
{
    __m512i block[LANES];
    const __mmask16 lanes = first_lanes(c->deep);
    UNROLLED(r, LANES, 1)
        block[r] = corner_row(c, r, lanes);
    turn(block);
    put_turned(c, block, LANES);
}

/* Of a depth of eight at most. */
LANES512_CPU static void turn_shallow(const struct corner *c)
{
    __m512i block[LANES / 2];
    const __mmask16 lanes = first_lanes(c->deep);
    UNROLLED(r, LANES / 2, 1) {
        const int64_t at = r < 4 ? r : r + 4;
        const __m512i right = corner_row(c, at + 4, lanes);
        block[r] = _mm512_inserti64x4(corner_row(c, at, lanes), _mm512_castsi512_si256(right), 1);
    }
    turn_half(block);
    put_turned(c, block, LANES / 2);
}

/* to [k, width] = scale b' of the columns [j, j + n), b [columns, k]; 0 up to the width. */
LANES512_CPU static void pack_across(float *to, int64_t width, const peat_gemm_product *p,
                                     int64_t j, int64_t n, float scale)
{
    struct corner c = {.step = p->ldb, .factor = _mm512_set1_ps(scale), .width = width};
    for (int64_t column = 0; column < width; column += LANES)
        for (int64_t k = 0; k < p->k; k += LANES) {
            c.b = (const float *)p->b + (j + column) * p->ldb + k;
            c.n = n - column;
            c.deep = p->k - k;
            c.to = to + k * width + column;
            if (c.deep > LANES / 2)
                turn_corner(&c);
            else
                turn_shallow(&c);
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

/* ---- sixteen chains for each number ---- */

/* Of rows and columns, those in whole fours add up neighbours first. */
enum { FOUR = 4 };

/* Adds x[l + by] to the x[l] of each 2 by. */
LANES512_INLINE void add_apart(__m512 x[LANES], const int by)
{
    UNROLLED(l, LANES, 2 * by)
        x[l] = _mm512_add_ps(x[l], x[l + by]);
}

/* Adds the second half of n. */
LANES512_INLINE void add_half(__m512 x[LANES], const int n)
{
    UNROLLED(l, n / 2, 1)
        x[l] = _mm512_add_ps(x[l], x[l + n / 2]);
}

/* Of a number's chains, for a vector of columns of which the first `whole` are in whole fours. */
LANES512_INLINE __m512 sum_of_chains(const __m512 chain[LANES], bool in_four, int64_t whole)
{
    __m512 near[LANES], far[LANES];
    UNROLLED(l, LANES, 1)
        far[l] = near[l] = chain[l];
    add_apart(near, 1);
    add_apart(near, 2);
    add_apart(near, 4);
    add_apart(near, 8);
    if (in_four || whole >= LANES)
        return near[0];
    add_half(far, 16);
    add_half(far, 8);
    add_half(far, 4);
    add_half(far, 2);
    return _mm512_mask_mov_ps(far[0], first_lanes(whole), near[0]);
}

/* Row i of a vector of columns: chain[l] takes k = l, l + 16, ... */
LANES512_CPU static void row_by_lanes(const struct stripe *s, int64_t i)
{
    const peat_gemm_product *p = s->p;
    const int64_t a_k = p->trans_a ? p->lda : 1, b_k = s->b_step, k = p->k;
    const float *a = (const float *)p->a + i * (p->trans_a ? 1 : p->lda), *b = s->b;
    const __mmask16 lanes = s->last;
    __m512 chain[LANES];
    int64_t at = 0;
    UNROLLED(l, LANES, 1)
        chain[l] = _mm512_setzero_ps();
    for (; at + LANES <= k; at += LANES)
        UNROLLED(l, LANES, 1)
            chain[l] = _mm512_fmadd_ps(_mm512_set1_ps(a[(at + l) * a_k]),
                                       _mm512_maskz_loadu_ps(lanes, b + (at + l) * b_k), chain[l]);
    UNROLLED(l, LANES, 1)
        if (at + l < k)
            chain[l] = _mm512_fmadd_ps(_mm512_set1_ps(a[(at + l) * a_k]),
                                       _mm512_maskz_loadu_ps(lanes, b + (at + l) * b_k), chain[l]);
    const int64_t whole = p->n / FOUR * FOUR - s->j;
    put_sum(s, (float *)p->c + i * p->ldc + s->j, lanes,
            sum_of_chains(chain, i < p->m / FOUR * FOUR, whole));
}

/* Of each four lanes: x's neighbours added up, then y's. */
LANES512_INLINE __m512 add_neighbours(__m512 x, __m512 y)
{
    return _mm512_add_ps(_mm512_shuffle_ps(x, y, 0x88), _mm512_shuffle_ps(x, y, 0xdd));
}

/* The same of quarters. */
LANES512_INLINE __m512 add_quarters(__m512 x, __m512 y)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(x, y, 0x88), _mm512_shuffle_f32x4(x, y, 0xdd));
}

/* Half of a number's lanes are one column's. */
LANES512_INLINE __m512 sums_of_eight(const __m512 chain[8])
{
    __m512 two[4], four[2];
    UNROLLED(c, 4, 1)
        two[c] = add_neighbours(chain[2 * c], chain[2 * c + 1]);
    UNROLLED(c, 2, 1)
        four[c] = add_neighbours(two[2 * c], two[2 * c + 1]);
    return add_quarters(four[0], four[1]);
}

enum { DOTS = 8 };

/* Rows i and i + 1 of eight columns, whose chains lie side by side in a vector; b' [columns, k]. */
LANES512_CPU static void two_rows_by_dots(const struct stripe *s, int64_t i)
{
    const peat_gemm_product *p = s->p;
    const float *a = (const float *)p->a + i * p->lda;
    const int64_t n = p->n - s->j;
    __m512 chain[2][DOTS];
    UNROLLED(c, DOTS, 1)
        chain[0][c] = chain[1][c] = _mm512_setzero_ps();
    for (int64_t k = 0; k < p->k; k += LANES) {
        const __mmask16 lanes = first_lanes(p->k - k);
        const __m512 upper = _mm512_maskz_loadu_ps(lanes, a + k);
        const __m512 lower = _mm512_maskz_loadu_ps(lanes, a + p->lda + k);
        UNROLLED(c, DOTS, 1) {
            const __m512 b = _mm512_maskz_loadu_ps(c < n ? lanes : 0, s->b + c * s->b_step + k);
            chain[0][c] = _mm512_fmadd_ps(upper, b, chain[0][c]);
            chain[1][c] = _mm512_fmadd_ps(lower, b, chain[1][c]);
        }
    }
    const __m512 sum = add_quarters(sums_of_eight(chain[0]), sums_of_eight(chain[1]));
    float *c = (float *)p->c + i * p->ldc + s->j;
    put_sum(s, c, s->last, sum);
    put_sum(s, c + p->ldc, s->last, _mm512_shuffle_f32x4(sum, sum, 0xee));
}

/* b' [columns, k] of up to eight columns from j on: b itself, or in the panel. */
LANES512_CPU static void turn_columns(struct stripe *s, float *panel)
{
    const peat_gemm_product *p = s->p;
    s->b = (const float *)p->b + s->j * p->ldb;
    s->b_step = p->ldb;
    if (p->trans_b)
        return;
    s->b = panel;
    s->b_step = (p->k + LANES - 1) / LANES * LANES;
    struct corner c = {.step = p->ldb,
                       .deep = p->n - s->j < DOTS ? p->n - s->j : DOTS,
                       .factor = _mm512_set1_ps(1.0f),
                       .width = s->b_step};
    for (int64_t k = 0; k < p->k; k += LANES) {
        c.b = (const float *)p->b + k * p->ldb + s->j;
        c.n = p->k - k;
        c.to = panel + k;
        turn_shallow(&c);
    }
}

/* Columns from j on of the first rows. */
LANES512_CPU static void multiply_by_dots(const peat_gemm_product *p, int64_t j, int64_t rows,
                                          float *panel)
{
    struct stripe s = {.p = p, .j = j, .alpha = (float)p->alpha};
    for (; s.j < p->n; s.j += DOTS) {
        s.last = first_lanes(p->n - s.j < DOTS ? p->n - s.j : DOTS);
        turn_columns(&s, panel);
        for (int64_t i = 0; i < rows; i += 2)
            two_rows_by_dots(&s, i);
    }
}

/* Columns from j on; k of CHAIN_DEEPEST at most. Rows in whole fours are faster by dots, if they
 * lie along k. */
LANES512_CPU static void multiply_by_lanes(const peat_gemm_product *p, int64_t j, float *panel)
{
    struct stripe s = {.p = p, .j = j, .alpha = (float)p->alpha, .b_step = p->ldb};
    const int64_t rows = p->trans_a ? 0 : p->m / FOUR * FOUR;
    if (rows > 0)
        multiply_by_dots(p, j, rows, panel);
    for (; rows < p->m && s.j < p->n; s.j += LANES) {
        s.last = first_lanes(p->n - s.j);
        s.b = (const float *)p->b + s.j;
        if (p->trans_b) {
            pack_across(panel, LANES, p, s.j, p->n - s.j, 1.0f);
            s.b = panel;
            s.b_step = LANES;
        }
        for (int64_t i = rows; i < p->m; i++)
            row_by_lanes(&s, i);
    }
}

/* ---- all of it ---- */

static int64_t piece_of(int64_t left, enum chain_cut cut)
{
    if (left <= CHAIN_DEEPEST)
        return left;
    return cut == CHAIN_STRAIGHT || left >= 2 * CHAIN_DEEPEST ? CHAIN_DEEPEST : (left + 1) / 2;
}

static void multiply_alone(const peat_gemm_product *p, struct chain_way way, float *panel)
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

void chain_multiply(const peat_gemm_product *p, struct chain_way way, float *panel)
{
    peat_gemm_product alone = *p;
    alone.n = way.lanes == CHAIN_ALONE       ? p->n
              : way.lanes == CHAIN_ALL_LANES ? 0
                                             : p->n / LANES * LANES;
    multiply_alone(&alone, way, panel);
    if (alone.n < p->n)
        multiply_by_lanes(p, alone.n, panel);
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
