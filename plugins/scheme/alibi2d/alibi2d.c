/* SPDX-License-Identifier: MIT */
/*
 * alibi2d.c: each head loses a fixed amount of logit per step in a grid read line by line.
 * The slopes of Press et al. 2022 with the distance of a grid.
 */
#include "../relative.h"
#include "../slopes.h"

struct config {
    int64_t columns;
};

static const peat_param rows[] = {
    {"columns", PEAT_INT, offsetof(struct config, columns), .min = 1, .max = 1 << 20,
     .unit = "tokens", .doc = "width of the grid: tokens of a line", .flags = PEAT_REQUIRED},
    PEAT_PARAM_END,
};

/* |row_p - row_r| + |column_p - column_r| */
static double distance(double columns, double p, double r)
{
    double lines = floor(p / columns) - floor(r / columns);
    return fabs(lines) + fabs(p - r - lines * columns);
}

/* bias[b, h, i, j] = -slope_h distance(i, j): of places, since a step to the right may be one to
 * the next line */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    double columns = (double)((const struct config *)c->config)->columns;
    int64_t B = c->q->pos_B > c->k->pos_B ? c->q->pos_B : c->k->pos_B;
    int64_t Tq = c->q->T, Tk = c->k->T;
    double *apart = peat_scratch(c, B * Tq * Tk), *slope = peat_scratch(c, c->H);
    (void)p;
    for (int64_t n = 0; apart && n < B * Tq * Tk; n++) {
        int64_t b = n / (Tq * Tk), i = n / Tk % Tq, j = n % Tk;
        apart[n] = distance(columns, relative_position(c->q, b, i), relative_position(c->k, b, j));
    }
    for (int64_t h = 0; slope && h < c->H; h++)
        slope[h] = -slopes_at(h, c->H);
    return peat_mul(c->g, peat_fill(c, 4, (int64_t[]){1, c->H, 1, 1}, slope),
                    peat_fill(c, 4, (int64_t[]){B, 1, Tq, Tk}, apart));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_NO_TRAINABLE,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "alibi2d", "1.0",
            "logits fall linearly with distance in a grid", "MIT", "arXiv:2108.12409")
