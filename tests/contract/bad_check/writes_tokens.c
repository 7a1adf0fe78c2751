/* SPDX-License-Identifier: MIT */
/* Token ids are written to. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    ((int32_t *)(uintptr_t)c->q->token)[0] = 41;
    return x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "writes_tokens", "1.0", "token ids are written to", "MIT",
                  "")
