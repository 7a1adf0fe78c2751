/* SPDX-License-Identifier: MIT */
/* yamltext.h: a tree of settings as YAML. */
#pragma once

#include "base/base.h"

/* A map, key by key; a small value on one line. Numbers are printed as they were written, and
 * texts in quotes, so that reading gives the same tree. */
void yaml_text(const struct value *map, struct strbuf *out);
