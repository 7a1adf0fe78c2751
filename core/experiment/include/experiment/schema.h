/* SPDX-License-Identifier: MIT */
/* schema.h: the experiment file as a JSON Schema, for editors. */
#pragma once

#include "plugin/registry.h"

/* A schema of draft 7, from the rows of settings and from the parameters of all plugins that are
 * loaded. It checks keys, types, bounds and names of plugins; only the program checks combinations
 * of keys, and labels. Plugins by path, and keys of plugins that are set by a dotted key, are
 * accepted unchecked. */
struct value *experiment_schema(const struct registry *r, struct arena *a);
