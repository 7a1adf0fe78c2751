/* SPDX-License-Identifier: MIT */
/* elfcheck.c: the ELF header and the program headers of a shared object, read with care. */
#include "base/elfcheck.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

/* The program's own header says what the machine is. */
static bool own_header(elf_header *header)
{
    FILE *exe = fopen("/proc/self/exe", "rbe");
    if (!exe)
        return false;
    bool whole = fread(header, sizeof(*header), 1, exe) == 1;
    fclose(exe);
    return whole;
}

static bool same_machine(const elf_header *header)
{
    elf_header own;
    return !own_header(&own) || (header->e_machine == own.e_machine &&
                                 header->e_ident[EI_CLASS] == own.e_ident[EI_CLASS] &&
                                 header->e_ident[EI_DATA] == own.e_ident[EI_DATA]);
}

/* Everything that would be mapped is inside the file. */
static bool is_whole(const elf_header *header, const char *bytes, size_t n)
{
    size_t count = header->e_phnum;
    if (header->e_phentsize != sizeof(elf_segment) || header->e_phoff > n ||
        count > (n - header->e_phoff) / sizeof(elf_segment))
        return false;
    for (size_t i = 0; i < count; i++) {
        elf_segment segment;
        memcpy(&segment, bytes + header->e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_offset > n || segment.p_filesz > n - segment.p_offset)
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

peat_status elf_check(const char *path, const char *bytes, size_t n, struct error *err)
{
    elf_header header;
    peat_status status = check_header(path, bytes, n, &header, err);
    if (status == PEAT_OK && !is_whole(&header, bytes, n))
        status = error_set(err, PEAT_CORRUPT, "'%s' is cut short", path);
    return status;
}
