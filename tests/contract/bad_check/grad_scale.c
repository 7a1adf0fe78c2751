/* SPDX-License-Identifier: MIT */
/* Planted gradient error: a tensor's is one percent too large. */
#include "planted.h"

static void column(const struct column *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        double gy = c->gy[i * c->step];
        c->gx[i * c->step] += gy * c->w;
        c->gw[c->d] += 1.01 * gy * (c->x[i * c->step] + c->b);
        c->gb[c->d] += gy * c->w;
    }
}
