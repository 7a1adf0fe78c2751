/* SPDX-License-Identifier: MIT */
/* What a place gets depends on how many there are. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, c->q, 0), 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    peat_node *by = peat_scale(c->g, pos, 1 / (double)c->q->T);
    return peat_mul(c->g, x, peat_affine(c->g, by, 1, 1));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sees_length", "1.0",
                  "what a place gets depends on how many there are", "MIT", "")
