/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h: recognises the format of a file by its first bytes.
 *
 * Whoever reads text or plain numbers asks here first: the bytes of a picture or of a packed file
 * are numbers too.
 */
#pragma once

#include <stddef.h>

/* A text to follow "'path' is": "packed with gzip: unpack it first", "a PNG image". NULL: the
 * format is not known, as of text and plain numbers. */
const char *file_kind(const void *bytes, size_t n);
