/* SPDX-License-Identifier: MIT */
/* Set-up leaves a file open. */
#include <fcntl.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    if (open("/dev/null", O_RDONLY) < 0)
        return PEAT_IO;
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "keeps_file", "1.0", "set-up leaves a file open", "MIT", "")
