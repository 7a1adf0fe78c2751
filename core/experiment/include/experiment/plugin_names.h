/* SPDX-License-Identifier: MIT */
/*
 * plugin_names.h: names of plugins that are given by path, for tables, the command line and the
 * names of files.
 *
 * Such a plugin is called by the id of its descriptor. Where another plugin of the experiment, of
 * another file, has the same id, it is called by its path as it is written.
 */
#pragma once

#include "base/base.h"

struct plugin_name {
    const char *file, *text; /* the file that names it, and the path as written there */
    const char *name;
};

struct plugin_names {
    int n;
    struct plugin_name *item;
};

/* The name of the plugin whose path this text is; NULL: the text is not such a path. names may be
 * NULL. */
const char *plugin_name_at(const struct plugin_names *names, const struct value *v);
