/* SPDX-License-Identifier: MIT */
/* plugins.h: shared by the verbs of `peat plugins`. */
#ifndef CLI_PLUGINS_H
#define CLI_PLUGINS_H

#include "plugin/registry.h"

/* "scheme", "combine", "task" */
extern const char *const kind_words[3];

/* The plugin as a map: name, kind, version, summary, hooks, traits, paper, path. */
struct value *plugin_value(const struct plugin *p, struct arena *a);
/* The config of a user who gives nothing; what is required is left empty. */
const void *plugin_defaults(const peat_plugin *desc, struct arena *a);

#endif
