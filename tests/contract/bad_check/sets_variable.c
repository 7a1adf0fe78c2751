/* SPDX-License-Identifier: MIT */
/* Set-up sets an environment variable. */
#include <stdlib.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    setenv("OMP_NUM_THREADS", "7", 1);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_variable", "1.0",
                  "set-up sets an environment variable", "MIT", "")
