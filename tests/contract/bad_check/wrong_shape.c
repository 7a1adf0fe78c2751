/* SPDX-License-Identifier: MIT */
/* A stream of half the width it was given. */
#include <peat/plugin.h>

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
        out[i] = pos[0];
}

static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d / 2, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .encode = encode,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "wrong_shape", "1.0",
                  "a stream of half the width it was given", "MIT", "")
