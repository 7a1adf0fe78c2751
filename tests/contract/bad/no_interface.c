/* SPDX-License-Identifier: MIT */
/* Has no interface. */
#include <peat/plugin.h>

static const peat_plugin descriptor = {
    .magic = PEAT_MAGIC,
    .size = sizeof(descriptor),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .id = "no_interface",
    .version = "1.0",
    .summary = "a bad plugin",
    .licence = "MIT",
    .citation = "",
    .kind = PEAT_SCHEME,
};

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
    return &descriptor;
}
