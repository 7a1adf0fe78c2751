/* SPDX-License-Identifier: MIT */
/* words.h: the command line's key=value words. */
#pragma once

#include "base/base.h"

/* The words as a map whose keys keep their dots; values are YAML. Word i has the place "command
 * line:i+1". PEAT_INVALID: a word is not key=value, or a key is given twice; *map then has the
 * words before it. */
peat_status words_map(struct arena *a, int n, char *const *text, struct value **map,
                      struct error *err);
