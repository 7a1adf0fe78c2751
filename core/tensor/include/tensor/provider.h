/* SPDX-License-Identifier: MIT */
/*
 * provider.h: which providers of matrix products are installed, and opening one.
 *
 * A provider is gemm/NAME.so in one of the directories of base/plugin_dirs.h; the first directory
 * that has a name wins. To list them reads directories alone: the libraries behind them take
 * milliseconds and hundreds of megabytes of addresses to load.
 */
#pragma once

#include "base/base.h"
#include <peat/gemm.h>

/* In the order in which `auto` chooses: the fastest first, those it does not know by name. */
struct providers {
    struct arena *arena;
    struct plugin_dirs dirs;
    int n, room;
    struct provider_file {
        const char *name, *path;
    } * file;
};

peat_status providers_find(struct providers *p, struct arena *a, struct error *err);
/* The words that run.gemm may be: "auto" and all names, n + 1 of them and NULL. */
const char *const *providers_words(const struct providers *p);
/* What `auto` would be glad of and is not there, "onednn, openblas"; NULL: nothing. */
const char *providers_missing(const struct providers *p);
/* PEAT_INVALID unless it is one of the words: with these and the nearest. */
peat_status provider_check(const struct providers *p, const char *name, struct error *err);
/* Loads it, looks at its descriptor and starts it. */
peat_status provider_open(const struct providers *p, const char *name,
                          const peat_gemm_provider **provider, struct error *err);
