/* SPDX-License-Identifier: MIT */
/*
 * file_kind.h: the format of a file, recognised by its first bytes.
 *
 * The one table of formats that name themselves. Whoever reads text or plain numbers asks it first:
 * a picture or a packed file is made of numbers too.
 */
#ifndef BASE_FILE_KIND_H
#define BASE_FILE_KIND_H

#include <stddef.h>

/* What follows "'path' is": "packed with gzip: unpack it first", "a PNG image". NULL: no format
 * that names itself, as text and plain numbers are. */
const char *file_kind(const void *bytes, size_t n);

#endif
