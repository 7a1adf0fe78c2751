/* SPDX-License-Identifier: MIT */
/* Its descriptor ends before the interface. */
#include <peat/plugin.h>

static const peat_plugin descriptor = {
    .magic = PEAT_MAGIC,
    .size = offsetof(peat_plugin, interface),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .id = "short_descriptor",
};

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
    return &descriptor;
}
