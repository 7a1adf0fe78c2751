/* SPDX-License-Identifier: MIT */
/*
 * setting.h: dotted keys such as "train.lr" or "position.scheme.base".
 *
 * A dotted key starts with a section of a cell. Below `task`, `position.scheme` and
 * `position.combine` anything may follow: only the plugin knows its parameters.
 */
#pragma once

#include "base/base.h"
#include <peat/plugin.h>

/* task, model, position, train, eval; ended by NULL. */
extern const char *const setting_sections[];
/* position.combine where the experiment gives none. It is left out where no stream is merged. */
extern const char setting_combine[];

/* Functions with an error are steps of a reader of settings (base/value.h). */

bool setting_is_section(const char *key);
/* The kind of plugin that the value of a key such as "position.scheme" or "scheme" names; 0: none.
 */
peat_kind setting_kind(const char *key);
/* True when `key` is `prefix` or below it. */
bool setting_is_below(const char *key, const char *prefix);
/* Refuses, with its place `at`, a key that does not exist; the message has the nearest one among
 * the known keys and the n others. */
bool setting_check(const char *key, struct place at, int n_other, const char *const *other,
                   struct arena *a, struct error *err);
/* Whether the value of a key that no plugin owns may be a list: eval.lengths. */
bool setting_takes_list(const char *key);
/* Reads the keys of one section as written in the file; `what` names the section in messages. */
bool setting_check_section(const char *section, const struct value *v, struct error *err);

/* Makes *tree a new tree in which key is item. A whole section given as a map is merged; a plugin
 * given only by its name becomes a map when a parameter below it is set. */
bool setting_apply(struct value **tree, const char *key, struct place key_at, struct value *item,
                   struct arena *a, struct error *err);

/* Refuses every key of the map that is not in `known` (ended by NULL), and a value that is not a
 * map. */
bool known_keys_only(const struct value *map, const char *what, const char *const *known,
                     struct error *err);
