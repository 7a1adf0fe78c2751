/* SPDX-License-Identifier: MIT */
/* A trained tensor under the claim that there is none. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    peat_param_new(s, "gain", 1, &s->dims.D, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return peat_add(c->g, x, peat_use(c, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_NO_TRAINABLE,
    .setup = setup,
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "claims_no_trainable", "1.0",
                  "a trained tensor under the claim that there is none", "MIT", "")
