/* SPDX-License-Identifier: MIT */
/* newer.c: a scheme built with headers that have one field more than this program's. */
#include <peat/plugin.h>

static peat_status more(void)
{
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s, (void)config, (void)self;
    return PEAT_OK;
}

static const struct newer {
    peat_scheme known;
    peat_status (*more)(void);
} newer = {
    .known = {.size = sizeof(newer), .setup = setup},
#ifdef CRIME_newer_field /* it would not do what it says without it */
    .more = more,
#endif
};

/* Used by whoever builds it without the crime. */
peat_status (*const peat_newer_more)(void) = more;

PEAT_DEFINE_PLAIN(PEAT_SCHEME, newer, "planted", "1.0", "changes nothing", "MIT", "")
