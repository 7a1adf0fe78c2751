/* SPDX-License-Identifier: MIT */
/* elfcheck.h: is this a whole shared object for this kind of machine? */
#ifndef BASE_ELFCHECK_H
#define BASE_ELFCHECK_H

#include "base/error.h"

/* The dynamic linker dies on a file that was cut short, and says of one for another processor that
 * it does not exist. `path` is for messages. */
peat_status elf_check(const char *path, const char *bytes, size_t n, struct error *err);
/* What its first n bytes can tell, ELF_HEAD of them or all that there are. */
peat_status elf_check_head(const char *path, const char *bytes, size_t n, struct error *err);
enum { ELF_HEAD = 64 };

#endif
