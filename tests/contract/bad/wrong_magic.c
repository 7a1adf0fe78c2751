/* SPDX-License-Identifier: MIT */
/* Returns some other program's descriptor. */
#include <peat/plugin.h>

static const peat_plugin descriptor = {.magic = UINT32_C(0x50414c43), .size = sizeof(descriptor)};

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
    return &descriptor;
}
