/* SPDX-License-Identifier: MIT */
/* Set-up takes the locale of the user. */
#include <locale.h>

#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    setlocale(LC_ALL, "C.UTF-8");
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_locale", "1.0", "set-up takes the locale of the user",
                  "MIT", "")
