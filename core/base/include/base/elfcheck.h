/* SPDX-License-Identifier: MIT */
/* elfcheck.h: is this a whole shared object for this kind of machine? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The dynamic linker dies on a file that was cut short, and says of one for another processor that
 * it does not exist. `bytes`: the first n of the file's `size`, up to the end of its table of
 * segments at least; a table that ends later is taken for cut short. `path` is for messages. */
peat_status elf_check(const char *path, const char *bytes, size_t n, uint64_t size,
                      struct error *err);
/* The fault that its first n bytes show: ELF_HEAD of them, or the whole file. */
peat_status elf_check_head(const char *path, const char *bytes, size_t n, struct error *err);
/* Whether the table of segments is within the first n bytes, of a file whose head is right. */
bool elf_has_table(const char *bytes, size_t n);
enum { ELF_HEAD = 64 };
/* The text of the first note of `owner` within the first n bytes of a file whose head is right, not
 * terminated; NULL: there is none. */
const char *elf_note(const char *bytes, size_t n, const char *owner, size_t *length);
