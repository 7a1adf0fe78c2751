/* SPDX-License-Identifier: MIT */
/* childlog.h: the lines of a child's log that say how it ended. */
#pragma once

#include "base/base.h"

/* The last line that starts with `prefix` ("": the last that is not empty), from byte `from` on and
 * without the prefix; NULL when there is none near the log's end. */
const char *log_last_line(const char *path, off_t from, const char *prefix, struct arena *a);
/* The first line, from byte `from` on, of a sanitizer's report; NULL: none. */
const char *log_sanitizer_line(const char *path, off_t from, struct arena *a);
