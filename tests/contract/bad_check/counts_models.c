/* SPDX-License-Identifier: MIT */
/* A static counter makes every model another. */
#include <peat/plugin.h>

static int models; /* the crime */

struct self {
    double scale;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own)
        return PEAT_NOMEM;
    own->scale = 1e-3 * ++models;
    *self = own;
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const struct self *own = c->self;
    return peat_scale(c->g, x, 1 + own->scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "counts_models", "1.0",
                  "a static counter makes every model another", "MIT", "")
