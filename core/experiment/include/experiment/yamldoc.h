/* SPDX-License-Identifier: MIT */
/*
 * yamldoc.h: a YAML file as a tree of settings; only yamldoc.c includes yaml.h.
 *
 * One document, YAML 1.2 core schema for plain scalars, quoted scalars are text. Refused with
 * file:line:column: syntax errors, duplicate keys, keys that are not text, a second document,
 * explicit tags other than the core schema's, merge keys (<<), bytes that are not UTF-8, NUL
 * bytes, files beyond 256 KiB, nesting beyond 32, more than 100,000 nodes after aliases, more than
 * 4,096 keys in one map. Limits are enforced on the event stream, before memory is spent.
 */
#pragma once

#include "base/base.h"

/* `file` is used in places and messages as given. */
peat_status yaml_load(struct arena *a, const char *file, struct value **root, struct error *err);
/* Reads a text in memory, with yaml_load's limit on bytes. */
peat_status yaml_parse(struct arena *a, const char *text, size_t n, const char *file,
                       struct value **root, struct error *err);
/* One value of the command line: `at` is the place of the whole text. */
peat_status yaml_value(struct arena *a, const char *text, struct place at, struct value **value,
                       struct error *err);
