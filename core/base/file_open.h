/* SPDX-License-Identifier: MIT */
/* file_open.h: the message of a failed call on a file. */
#pragma once

#include "base/base.h"

enum { FILE_WORDS = 128 };
/* The system's text for an errno, with `ulimit -f` where it is the reason. */
const char *file_words(int reason, char words[FILE_WORDS]);
/* "cannot <verb> '<path>': <the system's text>", from errno; PEAT_NOTFOUND for ENOENT. */
peat_status file_failure(struct error *err, const char *verb, const char *path);
/* "'<path>' is a named pipe, not a regular file" */
peat_status file_refused(struct error *err, peat_status status, const char *path, mode_t mode);
