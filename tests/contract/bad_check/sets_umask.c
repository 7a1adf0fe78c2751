/* SPDX-License-Identifier: MIT */
/* Set-up sets the umask. */
#include <sys/stat.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    umask(077);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_umask", "1.0", "set-up sets the umask", "MIT", "")
