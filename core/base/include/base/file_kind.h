/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h: recognises the format of a file by its first bytes.
 *
 * Readers of text or plain numbers call it first, because the bytes of a picture or of a packed
 * file would pass as numbers.
 */
#pragma once

#include <stddef.h>

/* A text to follow "'path' is": "packed with gzip: unpack it first", "a PNG image". NULL: the
 * format is not known, as of text and plain numbers. */
const char *file_kind(const void *bytes, size_t n);
