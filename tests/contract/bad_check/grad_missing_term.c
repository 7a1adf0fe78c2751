/* SPDX-License-Identifier: MIT */
/* Planted gradient error: a term of a sum is forgotten. */
#include "planted.h"

static void column(const struct column *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        double gy = c->gy[i * c->step];
        c->gx[i * c->step] += gy * c->w;
        c->gw[c->d] += gy * c->x[i * c->step];
        c->gb[c->d] += gy * c->w;
    }
}
