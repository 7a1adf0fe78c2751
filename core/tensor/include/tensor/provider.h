/* SPDX-License-Identifier: MIT */
/*
 * provider.h: which providers of matrix products are installed, and opening one.
 *
 * A provider is gemm/NAME.so in one of the directories of base/object.h; the first directory
 * that has a name wins. Listing them only reads directories, because loading a library costs
 * milliseconds and hundreds of megabytes of address space.
 */
#pragma once

#include "base/base.h"
#include <peat/gemm.h>

/* In the order in which `auto` chooses: the fastest first, then providers that `auto` does not
 * know, by name. */
struct providers {
    struct arena *arena;
    struct plugin_dirs dirs;
    int n, room;
    struct provider_file {
        const char *name, *path;
    } * file;
};

peat_status providers_find(struct providers *p, struct arena *a, struct error *err);
/* The allowed words for run.gemm: "auto" and all names, n + 1 of them and NULL. */
const char *const *providers_words(const struct providers *p);
/* The providers that `auto` prefers but that are not installed, "onednn, openblas"; NULL: all are.
 */
const char *providers_missing(const struct providers *p);
/* PEAT_INVALID, with the allowed words and the nearest, unless the name is one of them. */
peat_status provider_check(const struct providers *p, const char *name, struct error *err);
/* Loads a provider, checks its descriptor and starts it. */
peat_status provider_open(const struct providers *p, const char *name,
                          const peat_gemm_provider **provider, struct error *err);
