/* SPDX-License-Identifier: MIT */
/* Its entry returns nothing. */
#include <peat/plugin.h>

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
    return NULL;
}
