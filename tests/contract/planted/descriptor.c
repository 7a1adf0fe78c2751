/* SPDX-License-Identifier: MIT */
/* descriptor.c: a plugin's descriptor. Each crime spoils one thing that the loader reads. */
#include <peat/plugin.h>

#include "flush.h"

#ifdef CRIME_no_entry
#define peat_entry other_entry
#endif

#ifndef ABI_MINOR
#define ABI_MINOR PEAT_ABI_MINOR
#endif

static const peat_scheme scheme = {.size = sizeof(scheme)};

static const peat_plugin descriptor = {
#if defined(CRIME_wrong_magic) /* that of some other program */
    .magic = UINT32_C(0x50414c43),
    .size = sizeof(descriptor),
#elif defined(CRIME_wrong_abi) /* another ABI, of which only the first four fields can be read */
    .magic = PEAT_MAGIC,
    .size = 16,
    .abi_major = 0,
    .abi_minor = 3,
#elif defined(CRIME_next_abi)
    .magic = PEAT_MAGIC,
    .size = 16,
    .abi_major = 2,
#elif defined(CRIME_short_descriptor) /* ends before the interface */
    .magic = PEAT_MAGIC,
    .size = offsetof(peat_plugin, interface),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .id = "planted",
#else
    .magic = PEAT_MAGIC,
    .size = sizeof(descriptor),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = ABI_MINOR,
#ifdef CRIME_version_of_two_lines
    .version = "1.0\nbeta",
#else
    .version = "1.0",
#endif
    .licence = "MIT",
#ifdef CRIME_id_with_capitals /* cannot be written in YAML as other names are */
    .id = "Rotary-2",
#else
    .id = "planted",
#endif
#ifdef CRIME_no_summary
    .summary = "",
#else
    .summary = "says what it is",
#endif
#ifdef CRIME_no_citation
    .citation = NULL,
#else
    .citation = "",
#endif
#ifdef CRIME_unknown_kind
    .kind = (peat_kind)7,
#elif defined(CRIME_scheme_as_task)
    .kind = PEAT_TASK,
#else
    .kind = PEAT_SCHEME,
#endif
#ifdef CRIME_no_interface
    .interface = NULL,
#else
    .interface = &scheme,
#endif
#endif
};

PEAT_EXPORT const peat_plugin *peat_entry(void);
const peat_plugin *peat_entry(void)
{
#ifdef CRIME_null_descriptor
    return NULL;
#else
    return &descriptor;
#endif
}
