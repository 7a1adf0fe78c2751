/* SPDX-License-Identifier: MIT */
/* hash.h: SHA-256 as lower-case hexadecimal, the same as sha256sum prints. */
#pragma once

#include "base/error.h"

#define HASH_HEX 65 /* 64 digits and the terminator */

void hash_bytes(const void *bytes, size_t n, char hex[HASH_HEX]);
peat_status hash_file(const char *path, char hex[HASH_HEX], struct error *err);
/* The hash of an open file, from its first byte; path: for messages. */
peat_status hash_descriptor(int fd, const char *path, char hex[HASH_HEX], struct error *err);
