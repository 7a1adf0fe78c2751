/* SPDX-License-Identifier: MIT */
/* plugins.h: the verbs of `peat plugins`, and what they share. */
#ifndef CLI_PLUGINS_H
#define CLI_PLUGINS_H

#include "plugin/registry.h"

int plugins_list(int argc, char **argv);
int plugins_info(int argc, char **argv);
int plugins_check(int argc, char **argv);
int plugins_new(int argc, char **argv);
int plugins_reference(int argc, char **argv);

/* The plugin as a map: name, kind, version, summary, hooks, traits, paper, path. */
struct value *plugin_value(const struct plugin *p, struct arena *a);
/* JSON on stdout, indented. */
void print_json(const struct value *v);

#endif
