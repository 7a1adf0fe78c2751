/* SPDX-License-Identifier: MIT */
/* Exports something else than peat_entry. */
#include <peat/plugin.h>

PEAT_EXPORT int other_entry(void);
int other_entry(void)
{
    return 0;
}
