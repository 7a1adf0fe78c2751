/* SPDX-License-Identifier: MIT */
/* elf_symbols.h: the symbols of a plugin's file. */
#pragma once

#include "base/base.h"
#include <link.h>

typedef ElfW(Sym) elf_symbol;

/* A file in memory, as file_read gives it; everything read from it is checked against its size. */
struct elf_image {
    char *bytes;
    size_t n;
};

/* The name, in the file, of the first symbol for which `look` is true; NULL: none. type: SHT_DYNSYM
 * is the table of the dynamic linker; SHT_SYMTAB has all symbols and is absent in a stripped file.
 */
const char *elf_find_symbol(const struct elf_image *f, unsigned type,
                            bool (*look)(const void *ctx, const elf_symbol *s, const char *name),
                            const void *ctx);
/* Whether the compilers that made the file are named with this word: "rustc". */
bool elf_made_by(const struct elf_image *f, const char *compiler);
/* imports.c: PEAT_INVALID where the file imports a function by which a hook's result would depend
 * on more than its arguments. `loads`: only clocks, generators of the process, the environment and
 * files that it opens, for which no command but the check loads a plugin. Plugins made by rustc are
 * exempt: Rust's standard library in them imports such functions. */
peat_status imports_check(const struct elf_image *f, bool loads, struct error *err);
