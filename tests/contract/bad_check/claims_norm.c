/* SPDX-License-Identifier: MIT */
/* Queries and keys grow, under the claim that they keep their length. */
#include <peat/plugin.h>

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->q = peat_scale(c->g, io->q, 1.25);
    io->k = peat_scale(c->g, io->k, 1.25);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_NORM_PRESERVING,
    .qkv = qkv,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "claims_norm", "1.0",
                  "queries and keys grow, under the claim that they keep their length", "MIT", "")
