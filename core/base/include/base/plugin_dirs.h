/* SPDX-License-Identifier: MIT */
/* plugin_dirs.h: the directories that are searched for plugins and providers. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

struct plugin_dirs {
    int n;
    const char *dir[34];
};

/* The directories of PEAT_PLUGIN_PATH (colon-separated), ~/.local/lib/peat/plugins-<abi>, and
 * <directory of the program>/../<libdir>/peat/plugins-<abi>, each once. They need not exist. */
peat_status plugin_dirs_find(struct plugin_dirs *d, struct arena *a, struct error *err);
/* A directory of the installation; `dir` is absolute, or below the PREFIX of the program
 * PREFIX/bin. NULL: /proc is missing. */
const char *installed_dir(struct arena *a, const char *dir);
/* " (searched in 'a', 'b')" */
void plugin_dirs_add(const struct plugin_dirs *d, struct strbuf *out);
