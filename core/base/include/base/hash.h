/* SPDX-License-Identifier: MIT */
/* hash.h: SHA-256 as lower-case hexadecimal, the same as sha256sum prints. */
#pragma once

#include "base/error.h"

#define HASH_HEX 65 /* 64 digits and the terminator */

#define HASH_BASE64 45 /* 44 characters and the terminator */

void hash_bytes(const void *bytes, size_t n, char hex[HASH_HEX]);
/* The same in base64, in which a page's security policy names scripts. */
void hash_base64(const void *bytes, size_t n, char text[HASH_BASE64]);
peat_status hash_file(const char *path, char hex[HASH_HEX], struct error *err);
/* The hash of an open file, from its first byte; path: for messages. */
peat_status hash_descriptor(int fd, const char *path, char hex[HASH_HEX], struct error *err);
