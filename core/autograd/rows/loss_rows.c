/* SPDX-License-Identifier: MIT */
/* loss_rows.c: rows of the cross-entropy. */
#include "rows/loss_rows.h"

#include "tensor/lanes.h"
#include "tensor/vecmath.h"

enum { LOSS_PIECE = 512 };

/* log(sum(exp(x))) of a row; exponentials are on the stack, a piece of the row at a time. */
VEC_INLINE double log_sum_exp(const real *x, int64_t n)
{
    real piece[LOSS_PIECE];
    real top = lane_max(x, n);
    double sum = 0.0;
    for (int64_t j = 0; j < n; j += LOSS_PIECE)
        sum += AT_LEVEL(vec_rows).exp_sum(piece, x + j, (double)top,
                                          n - j < LOSS_PIECE ? n - j : LOSS_PIECE);
    return (double)top + log(sum);
}

static void loss_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct loss *c = ctx;
    for (int64_t row = begin; row < end; row++)
        if (c->target[row] >= 0)
            c->lse[row] = log_sum_exp((const real *)c->x + row * c->n, c->n);
}

/* dx += scale (softmax(x) - onehot(target)) */
static void loss_grad_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct loss *c = ctx;
    const real scale = (real)c->scale;
    real piece[LOSS_PIECE];
    for (int64_t row = begin; row < end; row++) {
        const real *x = (const real *)c->x + row * c->n;
        real *dx = (real *)c->dx + row * c->n;
        if (c->fresh)
            memset(dx, 0, (size_t)c->n * sizeof(*dx));
        if (c->target[row] < 0)
            continue;
        for (int64_t first = 0; first < c->n; first += LOSS_PIECE) {
            int64_t length = c->n - first < LOSS_PIECE ? c->n - first : LOSS_PIECE;
            AT_LEVEL(vec_rows).exp_sum(piece, x + first, c->lse[row], length);
            for (int64_t j = 0; j < length; j++)
                dx[first + j] += scale * piece[j];
        }
        dx[c->target[row]] -= scale;
    }
}

/* Whether the target has the highest value of its row, and the lowest index among equal values. */
VEC_INLINE bool is_highest(const real *x, int64_t n, int32_t target)
{
    for (int64_t j = 0; j < n; j++)
        if (!(j < target ? x[j] < x[target] : x[j] <= x[target]))
            return false;
    return true;
}

static void score_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct scores *c = ctx;
    for (int64_t row = begin; row < end; row++) {
        const real *x = (const real *)c->x + row * c->n;
        int32_t target = c->target[row];
        if (target < 0)
            continue;
        c->nll[row] = log_sum_exp(x, c->n) - (double)x[target];
        c->correct[row] = is_highest(x, c->n, target);
    }
}

const struct loss_rows AT_LEVEL(loss_rows) = {loss_rows, loss_grad_rows, score_rows};
