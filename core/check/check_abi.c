/* SPDX-License-Identifier: MIT */
/* check_abi.c: the exported symbols of a plugin; its descriptor was checked when it was loaded. */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "property.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;

/* A file in memory; everything read from it is checked against its size. */
struct image {
    const char *bytes;
    size_t n;
};

static bool read_at(const struct image *f, size_t at, void *out, size_t n)
{
    if (at > f->n || n > f->n - at)
        return false;
    memcpy(out, f->bytes + at, n);
    return true;
}

static bool section_at(const struct image *f, const elf_header *h, size_t i, elf_section *out)
{
    return i < h->e_shnum && h->e_shentsize == sizeof(*out) &&
           read_at(f, h->e_shoff + i * sizeof(*out), out, sizeof(*out));
}

/* Not weak ones: templates and inline functions of C++ are. */
static bool is_exported(const elf_symbol *symbol)
{
    unsigned char type = symbol->st_info & 0xf;
    return symbol->st_info >> 4 == STB_GLOBAL && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_shndx != SHN_ABS && (type == STT_FUNC || type == STT_OBJECT) &&
           (symbol->st_other & 3) == STV_DEFAULT;
}

/* The name of a symbol that is exported beside the entry; NULL: none. Sanitizers add their own. */
static const char *extra_symbol(const struct image *f, const elf_section *symbols,
                                const elf_section *names)
{
    elf_symbol symbol;
    for (size_t at = 0; at + sizeof(symbol) <= symbols->sh_size; at += sizeof(symbol)) {
        if (!read_at(f, symbols->sh_offset + at, &symbol, sizeof(symbol)) || !is_exported(&symbol))
            continue;
        size_t begin = names->sh_offset + symbol.st_name;
        if (begin >= f->n || !memchr(f->bytes + begin, '\0', f->n - begin))
            continue;
        const char *name = f->bytes + begin;
        if (strcmp(name, PEAT_ENTRY_NAME) != 0 && strncmp(name, "__", 2) != 0 && name[0] != '_')
            return name;
    }
    return NULL;
}

static const char *find_extra(const struct image *f)
{
    elf_header header;
    elf_section symbols, names;
    if (!read_at(f, 0, &header, sizeof(header)))
        return NULL;
    for (size_t i = 0; section_at(f, &header, i, &symbols); i++)
        if (symbols.sh_type == SHT_DYNSYM && section_at(f, &header, symbols.sh_link, &names))
            return extra_symbol(f, &symbols, &names);
    return NULL;
}

void abi_whole(const struct checked *s, struct check_outcome *o)
{
    char *bytes;
    size_t n;
    struct error err = {0};
    if (file_read(s->plugin->path, 0, &bytes, &n, &err) != PEAT_OK) {
        check_fail(o, "%s", err.text);
        return;
    }
    const struct image file = {bytes, n};
    const char *extra = find_extra(&file);
    if (extra)
        check_fail(o,
                   "it exports '%s'; only %s may be seen from outside (compile with "
                   "-fvisibility=hidden)",
                   extra, PEAT_ENTRY_NAME);
    free(bytes);
}
