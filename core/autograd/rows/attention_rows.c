/* SPDX-License-Identifier: MIT */
/*
 * attention_rows.c: rows of attention scores.
 *
 * A row is filled up to a whole number of lanes with -inf, so that no loop has a remainder; its
 * exponentials there are 0.
 */
#include "rows/attention_rows.h"

#include <tgmath.h>

#include "tensor/lanes.h"
#include "tensor/vecmath.h"

VEC_INLINE real *row_at(void *rows, const struct attention_tile *t, int64_t r)
{
    return (real *)rows + r * t->call->width;
}

/* s += factor * x */
VEC_INLINE void add_row(real *s, const real *x, int64_t step, real factor, int64_t n)
{
    if (step == 1)
        VEC_EACH(j, n)
            s[j] += factor * x[j];
    else
        for (int64_t j = 0; j < n; j++)
            s[j] += factor * x[j * step];
}

VEC_INLINE void add_plane(real *s, const struct plane *p, real factor,
                          const struct attention_tile *t, int64_t i, int64_t j, int64_t n)
{
    if (!p->data)
        return;
    const real *x = (const real *)p->data + t->b * p->stride[0] + t->h * p->stride[1] +
                    i * p->stride[2] + j * p->stride[3];
    add_row(s, x, p->stride[3], factor, n);
}

/* s[a] = -inf for a < n where the condition in a holds. The last group of lanes is moved back so
 * that it ends at n: masking an element twice is harmless. */
#define HIDE_WHERE(condition)                                                                      \
    for (int64_t first = 0; n >= LANES && first < n; first += LANES) {                             \
        const int64_t at = first + LANES <= n ? first : n - LANES;                                 \
        VEC_LANES(k, LANES) {                                                                      \
            const int64_t a = at + k;                                                              \
            s[a] = (condition) ? (real)-INFINITY : s[a];                                           \
        }                                                                                          \
    }                                                                                              \
    for (int64_t a = 0; n < LANES && a < n; a++)                                                   \
    s[a] = (condition) ? (real)-INFINITY : s[a]

/* Sets padding keys and those of another document to -inf; s[0] is key j of n. */
VEC_INLINE void hide_keys(real *s, const struct attention_tile *t, int64_t i, int64_t j, int64_t n)
{
    const struct attention_mask *mask = &t->call->mask;
    if (mask->pad_k) {
        const uint8_t *pad = mask->pad_k + t->b * t->call->Tk + j;
        HIDE_WHERE(pad[a]);
    }
    if (mask->doc_q && mask->doc_k) {
        const int32_t *doc = mask->doc_k + t->b * t->call->Tk + j;
        int32_t own = mask->doc_q[t->b * t->call->Tq + i];
        HIDE_WHERE(doc[a] != own);
    }
}
#undef HIDE_WHERE

/* Clears whole groups of lanes in [begin, end). */
VEC_INLINE void clear_lanes(real *s, int64_t begin, int64_t end)
{
    for (int64_t first = begin; first < end; first += LANES)
        VEC_LANES(j, LANES)
            s[first + j] = 0;
}

/* Sets one group of lanes to -inf outside of [lo, hi). */
VEC_INLINE void hide_lanes(real *s, int64_t lo, int64_t hi)
{
    VEC_LANES(j, LANES)
        s[j] = j >= lo && j < hi ? s[j] : (real)-INFINITY;
}

/* Turns scale * q k' into the logits of row r, -inf where a key is not seen. Returns the groups of
 * lanes that hold the seen keys; lanes outside of them become 0, which is their weight. */
VEC_INLINE struct exp_row finish_logits(const struct attention_tile *t, int64_t r)
{
    const struct attention *c = t->call;
    real *s = row_at(t->p, t, r);
    int64_t i = t->i0 + r, lo, hi;
    key_range(c, i, i, &lo, &hi);
    lo -= t->j0;
    hi -= t->j0;
    int64_t begin = lo / LANES * LANES, end = (hi + LANES - 1) / LANES * LANES;
    clear_lanes(s, 0, begin);
    if (begin < end) {
        hide_lanes(s + begin, lo - begin, LANES);
        hide_lanes(s + end - LANES, 0, hi - end + LANES);
    }
    clear_lanes(s, end, t->padded);
    int64_t j = t->j0 + lo, n = hi - lo;
    add_plane(s + lo, &c->score_add, (real)c->scale, t, i, j, n);
    add_plane(s + lo, &c->bias, 1, t, i, j, n);
    add_plane(s + lo, &c->rel, 1, t, 0, j - i + c->Tq - 1, n);
    hide_keys(s + lo, t, i, j, n);
    return (struct exp_row){s + begin, end - begin, 0, 0};
}

/* p = exp(logits - max), row = 1 / sum(p), lse = max + log(sum(p)). A row that sees nothing gets
 * p = 0 and lse = inf (from which the backward pass makes p = 0 again), but keeps NaN. */
static void weigh(const struct attention_tile *t)
{
    struct exp_row row[BLOCK_MOST];
    real *lse = t->lse, *scale = t->row;
    for (int64_t r = 0; r < t->rows; r++) {
        row[r] = finish_logits(t, r);
        real top = lane_max(row[r].x, row[r].n);
        row[r].shift = top == (real)-INFINITY ? 0 : (double)top;
    }
    AT_LEVEL(vec_rows).exp_sums(row, t->rows);
    for (int64_t r = 0; r < t->rows; r++) {
        const real sum = (real)row[r].sum;
        scale[r] = sum == 0 ? 1 : 1 / sum;
        lse[r] = sum == 0 ? (real)INFINITY : (real)row[r].shift + log(sum);
    }
}

/* out *= 1 / sum(p) */
static void divide(const struct attention_tile *t)
{
    const real *scale = t->row;
    for (int64_t r = 0; r < t->rows; r++) {
        real *out = (real *)t->out + r * t->out_step;
        for (int64_t j = 0; j < t->call->Cv; j++)
            out[j] *= scale[r];
    }
}

/* p = exp(logits - lse), row = sum(dout out) */
static void weigh_again(const struct attention_tile *t)
{
    struct exp_row row[BLOCK_MOST];
    const real *lse = t->lse;
    real *dot = t->row;
    for (int64_t r = 0; r < t->rows; r++) {
        row[r] = finish_logits(t, r);
        row[r].shift = (double)lse[r];
        dot[r] = lane_dot((const real *)t->dout + r * t->out_step,
                          (const real *)t->out + r * t->out_step, t->call->Cv);
    }
    AT_LEVEL(vec_rows).exp_sums(row, t->rows);
}

/* Adds d, the gradient of a row of logits, to the task's own sums. */
VEC_INLINE void add_partial(const struct partial *p, const struct attention_tile *t, int64_t i,
                            int64_t j, const real *d, real factor, int64_t n)
{
    if (!p->sums)
        return;
    real *sum = (real *)p->sums + t->slot * p->rows * p->columns;
    sum += p->rows > 1 ? i * p->columns : 0;
    if (p->columns > 1)
        add_row(sum + j, d, 1, factor, n);
    else
        *sum += factor * lane_sum(d, n);
}

/* ds = p (dp - row), where ds holds dp = dout v', or nothing for a key of no weight */
static void score_grads(const struct attention_tile *t)
{
    const struct attention *c = t->call;
    const real *dot = t->row;
    for (int64_t r = 0; r < t->rows; r++) {
        const real *p = row_at(t->p, t, r);
        real *ds = row_at(t->ds, t, r);
        int64_t i = t->i0 + r, j = t->j0, n = t->cols;
        VEC_EACH(a, n) {
            const real d = p[a] * (ds[a] - dot[r]);
            ds[a] = p[a] == 0 ? 0 : d;
        }
        add_partial(&c->score_add_sums, t, i, j, ds, (real)c->scale, n);
        add_partial(&c->bias_sums, t, i, j, ds, 1, n);
        add_partial(&c->rel_sums, t, 0, j - i + c->Tq - 1, ds, 1, n);
    }
}

const struct attention_rows AT_LEVEL(attention_rows) = {weigh, divide, weigh_again, score_grads};
