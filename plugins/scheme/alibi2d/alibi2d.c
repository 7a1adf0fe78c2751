/* SPDX-License-Identifier: MIT */
/*
 * alibi2d.c: each head loses a fixed amount of logit per row and column of distance.
 * The slopes of Press et al. 2022 with the distance of a grid.
 */
#include "../grid.h"
#include "../slopes.h"

struct config {
    int64_t columns;
};

static const peat_param rows[] = {
    GRID_COLUMNS_ROW(struct config),
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    return grid_setup(s, ((const struct config *)config)->columns, self);
}

/* Position of place t of row b on an axis. */
static double at(const peat_side *s, int64_t axis, int64_t b, int64_t t)
{
    return s->pos[(axis * s->pos_B + (s->pos_B == 1 ? 0 : b)) * s->T + t];
}

/* bias[b, h, i, j] = -slope_h (|row_i - row_j| + |column_i - column_j|): of places, since a step to
 * the right may be one to the next line */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    peat_side q, k;
    (void)p;
    if (!grid_side(c, c->q, &q) || !grid_side(c, c->k, &k))
        return NULL;
    int64_t B = q.pos_B > k.pos_B ? q.pos_B : k.pos_B;
    double *apart = peat_scratch(c, B * q.T * k.T), *slope = peat_scratch(c, c->H);
    for (int64_t n = 0; apart && n < B * q.T * k.T; n++) {
        int64_t b = n / (q.T * k.T), i = n / k.T % q.T, j = n % k.T;
        apart[n] =
            fabs(at(&q, 0, b, i) - at(&k, 0, b, j)) + fabs(at(&q, 1, b, i) - at(&k, 1, b, j));
    }
    for (int64_t h = 0; slope && h < c->H; h++)
        slope[h] = -slopes_at(h, c->H);
    return peat_mul(c->g, peat_fill(c, 4, (int64_t[]){1, c->H, 1, 1}, slope),
                    peat_fill(c, 4, (int64_t[]){B, 1, q.T, k.T}, apart));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .max_axes = 2,
    .setup = setup,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "alibi2d", "1.0",
            "logits fall linearly with distance in rows and columns", "MIT", "arXiv:2108.12409")
