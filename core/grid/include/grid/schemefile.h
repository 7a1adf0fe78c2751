/* SPDX-License-Identifier: MIT */
/*
 * schemefile.h: schemes.json of a run directory: drawings of the schemes that were trained.
 *
 * Only a scheme's own code can compute its table. peat.inspect.drawings of the Python package asks
 * the program for it and keeps the tables here, so that readers of the directory run no plugin
 * code. peat.report.schemes draws them. A drawing has a table of [heads or 1, rows, columns], and
 * another of before the training, or the reason why it has none.
 */
#pragma once

#include "base/base.h"

/* PEAT_NOTFOUND: the directory has no schemes.json. PEAT_CORRUPT: the file is damaged. */
peat_status scheme_drawings_check(const char *dir, struct arena *a, struct error *err);
