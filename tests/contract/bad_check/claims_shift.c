/* SPDX-License-Identifier: MIT */
/* A stream of sines that claims what does not hold. */
#include <math.h>

#include <peat/plugin.h>

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
        out[i] = sin(pos[0] / (double)(i + 1));
}

static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_SHIFT_INVARIANT,
    .encode = encode,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "claims_shift", "1.0",
                  "a stream of sines that claims what does not hold", "MIT", "")
