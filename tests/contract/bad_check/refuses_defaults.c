/* SPDX-License-Identifier: MIT */
/* Its own defaults are refused. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    return peat_refuse(s, "a width of %lld is not a multiple of 7", (long long)s->dims.D);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "refuses_defaults", "1.0", "its own defaults are refused",
                  "MIT", "")
