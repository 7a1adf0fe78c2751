/* SPDX-License-Identifier: MIT */
/* The logarithm of the first position is taken. */
#include <math.h>

#include <peat/plugin.h>

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
        out[i] = log(pos[0]);
}

static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .encode = encode,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "not_finite", "1.0",
                  "the logarithm of the first position is taken", "MIT", "")
