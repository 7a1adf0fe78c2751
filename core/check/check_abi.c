/* SPDX-License-Identifier: MIT */
/* check_abi.c: the symbols that a plugin exports and imports; its descriptor was checked when it
 * was loaded. */
#include <elf.h>

#include "checkelf.h"
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

/* Functions by which a hook's result would depend on more than its arguments. */
static const struct forbidden {
    const char *what, *instead, *names;
} forbidden[] = {
    {"reads a clock", "hooks are functions of their arguments",
     " time clock clock_gettime clock_getres gettimeofday timespec_get times ftime "},
    {"draws from the process", "draw with peat_random, peat_random_row or, in a task, peat_below",
     " rand rand_r srand random random_r srandom initstate setstate drand48 erand48 lrand48 "
     "nrand48 mrand48 jrand48 srand48 seed48 lcong48 getrandom getentropy arc4random "
     "arc4random_uniform arc4random_buf "},
    {"reads the environment", "add a parameter",
     " getenv secure_getenv __secure_getenv environ __environ "},
    {"opens files", "declare a parameter with PEAT_PATH and call the host's read_file",
     " fopen fopen64 freopen freopen64 fdopen open open64 __open_2 __open64_2 openat openat64 "
     "creat creat64 opendir fdopendir popen tmpfile tmpfile64 mkstemp mkstemp64 "},
};

static bool is_forbidden(const void *ctx, const elf_symbol *s, const char *name)
{
    const struct forbidden *row = ctx;
    size_t n = strlen(name);
    const char *at = s->st_shndx == SHN_UNDEF && n > 0 ? strstr(row->names, name) : NULL;
    while (at && (at[-1] != ' ' || at[n] != ' '))
        at = strstr(at + 1, name);
    return at != NULL;
}

/* Plugins made by rustc are exempt: Rust's standard library in them imports such functions. */
static void check_imports(const struct elf_image *f, struct check_outcome *o)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        const struct forbidden *row = &forbidden[i];
        const char *name = elf_find_symbol(f, SHT_DYNSYM, is_forbidden, row);
        if (name && !elf_made_by(f, "rustc"))
            check_fail(o, "it imports '%s', which %s: %s", name, row->what, row->instead);
    }
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
    check_imports(&file, o);
    free(file.bytes);
}
