/* SPDX-License-Identifier: MIT */
/* childlog.h: the lines of a child's log that say how it ended. */
#pragma once

#include "base/base.h"

/* The last line that starts with `prefix` ("": the last that is not empty), from byte `from` on,
 * without the prefix; NULL when there is no such line near the log's end. */
const char *log_last_line(const char *path, off_t from, const char *prefix, struct arena *a);
/* The first line of a sanitizer's report, from byte `from` on; NULL: no report. */
const char *log_sanitizer_line(const char *path, off_t from, struct arena *a);
