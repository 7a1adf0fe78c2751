/* SPDX-License-Identifier: MIT */
/* Planted gradient error: a broadcast tensor gets that of the last row alone. */
#include "planted.h"

static void column(const struct column *c)
{
    double last = 0;
    for (int64_t i = 0; i < c->n; i++) {
        double gy = c->gy[i * c->step];
        c->gx[i * c->step] += gy * c->w;
        c->gb[c->d] += gy * c->w;
        last = gy * (c->x[i * c->step] + c->b);
    }
    c->gw[c->d] += last;
}
