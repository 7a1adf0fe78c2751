/* SPDX-License-Identifier: MIT */
/* plugins.h: shared by the verbs of `peat plugins`. */
#pragma once

#include "plugin/registry.h"

extern const char *const kind_words[3];

/* The plugin as a map: name, kind, version, summary, hooks, traits, paper, path. */
struct value *plugin_value(const struct plugin *p, struct arena *a);
/* plugins_twin.c: the first parameter or tensor in which a plugin differs from a reference that
 * declares its own; NULL: none, or the reference declares nothing. */
const char *twin_difference(const char *plugin, const char *reference, struct arena *a);
