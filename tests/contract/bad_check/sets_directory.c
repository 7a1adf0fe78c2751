/* SPDX-License-Identifier: MIT */
/* Set-up goes to another directory. */
#include <unistd.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    if (chdir("/") != 0)
        return PEAT_IO;
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_directory", "1.0", "set-up goes to another directory",
                  "MIT", "")
