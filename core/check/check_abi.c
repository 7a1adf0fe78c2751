/* SPDX-License-Identifier: MIT */
/* check_abi.c: the symbols that a plugin exports and imports; its descriptor was checked when it
 * was loaded. */
#include <elf.h>

#include "plugin/elf_symbols.h"
#include "property.h"

/* Weak symbols are left out: templates and inline functions of C++ are weak. Sanitizers add names
 * that begin with an underscore. */
static bool is_extra(const void *ctx, const elf_symbol *s, const char *name)
{
    unsigned char type = s->st_info & 0xf;
    bool exported = s->st_info >> 4 == STB_GLOBAL && s->st_shndx != SHN_UNDEF &&
                    s->st_shndx != SHN_ABS && (type == STT_FUNC || type == STT_OBJECT) &&
                    (s->st_other & 3) == STV_DEFAULT;
    (void)ctx;
    return exported && strcmp(name, PEAT_ENTRY_NAME) != 0 && name[0] != '_';
}

void abi_whole(const struct checked *s, struct check_outcome *o)
{
    struct elf_image file;
    struct error err = {0};
    if (file_read(s->plugin->path, 0, &file.bytes, &file.n, &err) != PEAT_OK) {
        check_fail(o, "%s", err.text);
        return;
    }
    const char *extra = elf_find_symbol(&file, SHT_DYNSYM, is_extra, NULL);
    if (extra)
        check_fail(
            o,
            "it exports '%s'; only %s may be seen from outside (compile with -fvisibility=hidden)",
            extra, PEAT_ENTRY_NAME);
    if (imports_check(&file, false, &err) != PEAT_OK)
        check_fail(o, "%s", err.text);
    free(file.bytes);
}
