/* SPDX-License-Identifier: MIT */
/* elfcheck.h: is this a whole shared object for this kind of machine? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The dynamic linker crashes on a file that was cut short, and reports one for another processor as
 * missing. This check comes first. `bytes`: the first n of the file's `size`, at least up to the
 * end of its table of segments; a table that ends later counts as cut short. `path` is for
 * messages. */
peat_status elf_check(const char *path, const char *bytes, size_t n, uint64_t size,
                      struct error *err);
/* The fault that is visible in the first n bytes: ELF_HEAD of them, or the whole file. */
peat_status elf_check_head(const char *path, const char *bytes, size_t n, struct error *err);
/* Whether the table of segments is within the first n bytes. The file's head has been checked. */
bool elf_has_table(const char *bytes, size_t n);
enum { ELF_HEAD = 64 };
/* The text of the first note of `owner` within the first n bytes, not terminated; NULL: no such
 * note. The file's head has been checked. */
const char *elf_note(const char *bytes, size_t n, const char *owner, size_t *length);
