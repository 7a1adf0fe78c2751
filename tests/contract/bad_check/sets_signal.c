/* SPDX-License-Identifier: MIT */
/* Set-up handles a signal. */
#include <signal.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    signal(SIGUSR1, SIG_IGN);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_signal", "1.0", "set-up handles a signal", "MIT", "")
