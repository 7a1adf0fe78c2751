/* SPDX-License-Identifier: MIT */
/*
 * thin.h: a curve with its evaluations and few of its training lines, as bundles hold it.
 *
 * thinned.json (cell/cellfiles.h) seals it, because result.json is sealed with the whole curve.
 */
#pragma once

#include "base/base.h"

enum { THIN_STEPS = 100, THIN_DIGITS = 5 };

/* Appends <dir>/metrics.jsonl with every evaluation and, of THIN_STEPS steps that are evenly spaced
 * in log(step) from the first training line to the last, the next training line: fewer lines where
 * two such steps have the same one. All but the last are shortened. A curve that was thinned so
 * stays as it is. */
peat_status curve_thin(const char *dir, struct strbuf *thin, struct arena *a, struct error *err);

/* Appends a training line with THIN_DIGITS significant digits of each number that is not whole, and
 * without its seal. A line that was shortened stays as it is. The other digits and the seals would
 * be more than half of a compressed curve. */
void thin_add_short(struct strbuf *thin, const struct value *line);
