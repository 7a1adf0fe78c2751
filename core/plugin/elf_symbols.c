/* SPDX-License-Identifier: MIT */
/* elf_symbols.c: sections and symbols of an ELF file. */
#include "plugin/elf_symbols.h"

#include <elf.h>

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Shdr) elf_section;

static bool read_at(const struct elf_image *f, size_t at, void *out, size_t n)
{
    if (at > f->n || n > f->n - at)
        return false;
    memcpy(out, f->bytes + at, n);
    return true;
}

static bool section_at(const struct elf_image *f, const elf_header *h, size_t i, elf_section *out)
{
    return i < h->e_shnum && h->e_shentsize == sizeof(*out) &&
           read_at(f, h->e_shoff + i * sizeof(*out), out, sizeof(*out));
}

/* A text of a section; NULL: it is not in the file. */
static const char *text_at(const struct elf_image *f, const elf_section *texts, size_t at)
{
    size_t begin = texts->sh_offset + at;
    return begin < f->n && memchr(f->bytes + begin, '\0', f->n - begin) ? f->bytes + begin : NULL;
}

const char *elf_find_symbol(const struct elf_image *f, unsigned type,
                            bool (*look)(const void *ctx, const elf_symbol *s, const char *name),
                            const void *ctx)
{
    elf_header h;
    elf_section symbols, names;
    elf_symbol s;
    for (size_t i = 0; read_at(f, 0, &h, sizeof(h)) && section_at(f, &h, i, &symbols); i++) {
        if (symbols.sh_type != type || !section_at(f, &h, symbols.sh_link, &names))
            continue;
        for (size_t at = 0;
             at + sizeof(s) <= symbols.sh_size && read_at(f, symbols.sh_offset + at, &s, sizeof(s));
             at += sizeof(s)) {
            const char *name = text_at(f, &names, s.st_name);
            if (name && look(ctx, &s, name))
                return name;
        }
    }
    return NULL;
}

bool elf_made_by(const struct elf_image *f, const char *compiler)
{
    elf_header h;
    elf_section names, s;
    if (!read_at(f, 0, &h, sizeof(h)) || !section_at(f, &h, h.e_shstrndx, &names))
        return false;
    for (size_t i = 0; section_at(f, &h, i, &s); i++) {
        const char *name = text_at(f, &names, s.sh_name);
        if (name && strcmp(name, ".comment") == 0 && s.sh_offset <= f->n &&
            s.sh_size <= f->n - s.sh_offset &&
            memmem(f->bytes + s.sh_offset, s.sh_size, compiler, strlen(compiler)))
            return true;
    }
    return false;
}
