/* SPDX-License-Identifier: MIT */
/* elfcheck.c: reads the ELF header and the program headers of a shared object, checking all
 * bounds. */

#include "base/base.h"
#include <link.h>

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

/* The program's own ELF header, from memory: it has the machine of this process. */
extern const elf_header __ehdr_start __attribute__((weak, visibility("hidden")));

static bool same_machine(const elf_header *header)
{
    const elf_header *own = &__ehdr_start;
    return !own || (header->e_machine == own->e_machine &&
                    header->e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
                    header->e_ident[EI_DATA] == own->e_ident[EI_DATA]);
}

static elf_segment segment_at(const elf_header *header, const char *bytes, size_t i)
{
    elf_segment segment;
    memcpy(&segment, bytes + header->e_phoff + i * sizeof(segment), sizeof(segment));
    return segment;
}

static bool has_table(const elf_header *header, size_t n)
{
    return header->e_phentsize == sizeof(elf_segment) && header->e_phoff <= n &&
           header->e_phnum <= (n - header->e_phoff) / sizeof(elf_segment);
}

/* Checks that everything that would be mapped is inside the file. */
static bool is_whole(const elf_header *header, const char *bytes, size_t n, uint64_t size)
{
    if (!has_table(header, n))
        return false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        elf_segment segment = segment_at(header, bytes, i);
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return false;
    }
    return true;
}

static peat_status check_header(const char *path, const char *bytes, size_t n, elf_header *header,
                                struct error *err)
{
    if (n == 0)
        return error_set(err, PEAT_INVALID, "'%s' is empty", path);
    if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return error_set(err, PEAT_INVALID, "'%s' is not a shared object", path);
    if (n < sizeof(*header))
        return error_set(err, PEAT_CORRUPT, "'%s' is cut short", path);
    memcpy(header, bytes, sizeof(*header));
    if (!same_machine(header))
        return error_set(err, PEAT_INVALID, "'%s' was built for another kind of machine", path);
    if (header->e_type != ET_DYN)
        return error_set(err, PEAT_INVALID, "'%s' is not a shared object", path);
    return PEAT_OK;
}

peat_status elf_check_head(const char *path, const char *bytes, size_t n, struct error *err)
{
    elf_header header;
    return check_header(path, bytes, n, &header, err);
}

bool elf_has_table(const char *bytes, size_t n)
{
    elf_header header;
    if (n < sizeof(header))
        return false;
    memcpy(&header, bytes, sizeof(header));
    return has_table(&header, n);
}

peat_status elf_check(const char *path, const char *bytes, size_t n, uint64_t size,
                      struct error *err)
{
    elf_header header;
    peat_status status = check_header(path, bytes, n, &header, err);
    if (status == PEAT_OK && !is_whole(&header, bytes, n, size))
        status = error_set(err, PEAT_CORRUPT, "'%s' is cut short", path);
    return status;
}

static size_t rounded_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Notes follow each other: sizes, owner, text, each aligned to `unit`. */
static const char *find_note(const char *bytes, size_t n, size_t unit, const char *owner,
                             size_t *length)
{
    ElfW(Nhdr) note;
    while (n >= sizeof(note)) {
        memcpy(&note, bytes, sizeof(note));
        if (note.n_namesz > n || note.n_descsz > n)
            return NULL;
        size_t text = rounded_up(sizeof(note) + note.n_namesz, unit);
        size_t end = rounded_up(text + note.n_descsz, unit);
        if (text + note.n_descsz > n)
            return NULL;
        *length = note.n_descsz;
        if (note.n_namesz == strlen(owner) + 1 &&
            memcmp(bytes + sizeof(note), owner, note.n_namesz) == 0)
            return bytes + text;
        if (end >= n)
            return NULL;
        bytes += end;
        n -= end;
    }
    return NULL;
}

const char *elf_note(const char *bytes, size_t n, const char *owner, size_t *length)
{
    elf_header header;
    const char *found = NULL;
    if (!elf_has_table(bytes, n))
        return NULL;
    memcpy(&header, bytes, sizeof(header));
    for (size_t i = 0; i < header.e_phnum && !found; i++) {
        elf_segment s = segment_at(&header, bytes, i);
        if (s.p_type == PT_NOTE && s.p_offset < n)
            found = find_note(bytes + s.p_offset,
                              s.p_filesz < n - s.p_offset ? s.p_filesz : n - s.p_offset,
                              s.p_align == 8 ? 8 : 4, owner, length);
    }
    return found;
}
