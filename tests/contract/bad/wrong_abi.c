/* SPDX-License-Identifier: MIT */
/* Was built for another ABI, of which only the first four fields can be read. */
#include <peat/plugin.h>

static const peat_plugin descriptor = {
    .magic = PEAT_MAGIC,
    .size = 16,
    .abi_major = 0,
    .abi_minor = 3,
};

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
    return &descriptor;
}
