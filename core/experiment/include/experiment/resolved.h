/* SPDX-License-Identifier: MIT */
/*
 * resolved.h: an experiment as it was run, which runs the same from any folder.
 *
 * The words of the command line are applied, paths are absolute, and labels stay as they were.
 * `made_with` records its origin: the program, the file, the folder, the words, and the plugins by
 * their hashes. Reading it again gives the same plan.
 */
#pragma once

#include "experiment/plan.h"

#define RESOLVED_FILE "resolved.yaml"

/* The experiment as the text of a YAML file. */
void resolved_text(const struct plan *p, struct arena *a, struct strbuf *out);
/* A map or list of settings as lines of YAML, item by item; a small value on one line. Numbers are
 * printed as they were written, and texts in quotes, so that reading gives the same tree. */
void settings_add(struct strbuf *out, const struct value *v, int indent, struct arena *a);
/* The first program or plugin that differs from `made_with`: "scheme 'rotary' is not the file that
 * ..."; NULL: none differs, or resolved_text did not make the experiment. */
const char *resolved_change(const struct plan *p, struct arena *a);
