/* SPDX-License-Identifier: MIT */
/*
 * plugin.h: the one header a plugin includes.
 *
 * A plugin is a shared object with one exported function, peat_entry, which returns a static
 * const descriptor and does nothing else. It links only to libc and libm and reaches the engine
 * through the tables passed to the hooks.
 */
#ifndef PEAT_PLUGIN_H
#define PEAT_PLUGIN_H

#include <peat/combine.h>
#include <peat/custom.h>
#include <peat/host.h>
#include <peat/ops.h>
#include <peat/param.h>
#include <peat/positions.h>
#include <peat/scheme.h>
#include <peat/task.h>
#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEAT_MAGIC UINT32_C(0x54414550) /* "PEAT" in memory on a little-endian machine */
/* A plugin of any 1.x loads in a PEAT of any 1.y; docs/abi.md has the promise. */
#define PEAT_ABI_MAJOR 1
#define PEAT_ABI_MINOR 0
#define PEAT_ABI       "1.0"

typedef enum peat_kind { PEAT_SCHEME = 1, PEAT_COMBINE = 2, PEAT_TASK = 3 } peat_kind;

/* The first four fields never change: a host can always tell which ABI a plugin was built for.
 * All strings are static. `interface` is a peat_scheme, peat_combine or peat_task. */
typedef struct peat_plugin {
    uint32_t magic;
    uint32_t size;
    uint32_t abi_major, abi_minor;
    const char *id; /* the name in the YAML: lower case, digits, underscore */
    const char *version;
    const char *summary; /* one line */
    const char *licence;
    const char *citation; /* "arXiv:1706.03762", or "" */
    peat_kind kind;
    uint32_t config_size;    /* sizeof the config struct; 0: no parameters */
    const peat_param *param; /* ended by PEAT_PARAM_END, or NULL */
    const void *interface;
} peat_plugin;

/* The entry is visible outside the shared object, under its C name in C++ too. */
#if defined(__cplusplus)
#define PEAT_C_NAME extern "C"
#else
#define PEAT_C_NAME
#endif
#if defined(__GNUC__)
#define PEAT_EXPORT PEAT_C_NAME __attribute__((visibility("default")))
#else
#define PEAT_EXPORT PEAT_C_NAME
#endif

/* Defines the descriptor and the entry. PEAT_DEFINE_PLAIN is for a plugin without parameters. */
#define PEAT_DEFINE(kind_, interface_, config_, rows_, id_, version_, summary_, licence_,          \
                    citation_)                                                                     \
    static const peat_plugin peat_plugin_descriptor = {PEAT_MAGIC,                                 \
                                                       sizeof(peat_plugin),                        \
                                                       PEAT_ABI_MAJOR,                             \
                                                       PEAT_ABI_MINOR,                             \
                                                       id_,                                        \
                                                       version_,                                   \
                                                       summary_,                                   \
                                                       licence_,                                   \
                                                       citation_,                                  \
                                                       kind_,                                      \
                                                       sizeof(config_),                            \
                                                       rows_,                                      \
                                                       &(interface_)};                             \
    PEAT_EXPORT const peat_plugin *peat_entry(void);                                               \
    PEAT_EXPORT const peat_plugin *peat_entry(void)                                                \
    {                                                                                              \
        return &peat_plugin_descriptor;                                                            \
    }

#define PEAT_DEFINE_PLAIN(kind_, interface_, id_, version_, summary_, licence_, citation_)         \
    static const peat_plugin peat_plugin_descriptor = {PEAT_MAGIC,                                 \
                                                       sizeof(peat_plugin),                        \
                                                       PEAT_ABI_MAJOR,                             \
                                                       PEAT_ABI_MINOR,                             \
                                                       id_,                                        \
                                                       version_,                                   \
                                                       summary_,                                   \
                                                       licence_,                                   \
                                                       citation_,                                  \
                                                       kind_,                                      \
                                                       0,                                          \
                                                       NULL,                                       \
                                                       &(interface_)};                             \
    PEAT_EXPORT const peat_plugin *peat_entry(void);                                               \
    PEAT_EXPORT const peat_plugin *peat_entry(void)                                                \
    {                                                                                              \
        return &peat_plugin_descriptor;                                                            \
    }

/* Optional: other names that people use for the plugin, "rope, roformer", a literal. An error about
 * such a name suggests the plugin. The names are a note in the file, read without loading it. */
#define PEAT_ALSO_NOTE           "ALSO"
#define PEAT_ALSO_CALLED(names_) PEAT_NOTE(peat_also_note, PEAT_ALSO_NOTE, names_)

/* `peat plugins build` defines the compiler's words, which are a note in the file: a run says by it
 * what is different where a plugin was built again. */
#define PEAT_BUILT_NOTE "MADE"
#ifdef PEAT_BUILT
PEAT_NOTE(peat_built_note, PEAT_BUILT_NOTE, PEAT_BUILT)
#endif

typedef const peat_plugin *(*peat_entry_fn)(void);
#define PEAT_ENTRY_NAME "peat_entry"

#ifdef __cplusplus
}
#endif
#endif
