/* SPDX-License-Identifier: MIT */
/* test_objects.c: what the built plugins export, link to and own. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "support/support.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;
typedef ElfW(Dyn) elf_dynamic;

struct object {
    char *bytes;
    const elf_header *header;
    const elf_section *section;
};

static struct object object_open(const char *path)
{
    struct object o;
    size_t n;
    struct error err;
    ck_assert_msg(file_read(path, 0, &o.bytes, &n, &err) == PEAT_OK, "%s", err.text);
    o.header = (const void *)o.bytes;
    o.section = (const void *)(o.bytes + o.header->e_shoff);
    return o;
}

static const elf_section *find_section(const struct object *o, uint32_t type)
{
    for (int i = 0; i < o->header->e_shnum; i++)
        if (o->section[i].sh_type == type)
            return &o->section[i];
    return NULL;
}

static const void *contents(const struct object *o, const elf_section *s)
{
    return o->bytes + s->sh_offset;
}

/* A string of the table that belongs to section s. */
static const char *string(const struct object *o, const elf_section *s, size_t at)
{
    return (const char *)contents(o, &o->section[s->sh_link]) + at;
}

static const char *section_name(const struct object *o, const elf_section *s)
{
    return (const char *)contents(o, &o->section[o->header->e_shstrndx]) + s->sh_name;
}

/* ---- the rules ---- */

/* AddressSanitizer puts a mark beside each exported variable. */
static bool is_mark(const char *name)
{
    return strncmp(name, "__odr_asan.", strlen("__odr_asan.")) == 0;
}

static void exports_one_symbol(const char *path, const char *entry, struct strbuf *offences)
{
    struct object o = object_open(path);
    const elf_section *table = find_section(&o, SHT_DYNSYM);
    const elf_symbol *symbol = contents(&o, table);
    int entries = 0;
    for (size_t i = 1; i < table->sh_size / sizeof(*symbol); i++) {
        if (symbol[i].st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol[i].st_info) == STB_LOCAL)
            continue;
        const char *name = string(&o, table, symbol[i].st_name);
        if (!strcmp(name, entry))
            entries++;
        else if (!is_mark(name))
            strbuf_addf(offences, "%s exports %s\n", path, name);
    }
    if (entries != 1)
        strbuf_addf(offences, "%s exports %s %d times\n", path, entry, entries);
    free(o.bytes);
}

static void exports_the_entry_alone(const char *path, struct strbuf *offences)
{
    exports_one_symbol(path, "peat_entry", offences);
}

static void exports_the_provider_alone(const char *path, struct strbuf *offences)
{
    exports_one_symbol(path, "peat_gemm_entry", offences);
}

static bool is_allowed(const char *library)
{
    static const char *const allowed[] = {
        "libc.so.", "libm.so.",
#ifdef PEAT_SANITIZED
        "libasan.", "libubsan.", "libtsan.", "libgcc_s.", "libclang_rt.",
#endif
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (!strncmp(library, allowed[i], strlen(allowed[i])))
            return true;
    return false;
}

static void links_to_allowed(const char *path, bool (*allowed)(const char *library),
                             struct strbuf *offences)
{
    struct object o = object_open(path);
    const elf_section *table = find_section(&o, SHT_DYNAMIC);
    for (const elf_dynamic *d = contents(&o, table); d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED)
            continue;
        const char *library = string(&o, table, d->d_un.d_val);
        if (!allowed(library))
            strbuf_addf(offences, "%s links to %s\n", path, library);
    }
    free(o.bytes);
}

static void links_to_libc_and_libm_alone(const char *path, struct strbuf *offences)
{
    links_to_allowed(path, is_allowed, offences);
}

/* What is loaded where it is used. */
static bool is_small(const char *library)
{
    static const char *const large[] = {"blas", "lapack", "dnnl", "mkl", "blis", "gfortran"};
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
        if (strstr(library, large[i]))
            return false;
    return true;
}

static void links_to_no_large_library(const char *path, struct strbuf *offences)
{
    links_to_allowed(path, is_small, offences);
}

/* Data that can change at run time; constants that only wait for relocation are elsewhere. */
static bool is_mutable(const char *section)
{
    return !strcmp(section, ".data") || !strcmp(section, ".bss") || !strcmp(section, ".tdata") ||
           !strcmp(section, ".tbss");
}

/* What the compiler's own start-up code keeps, and what it knows of the CPU. */
static bool is_compilers(const char *name)
{
    return !strncmp(name, "completed.", 10) || !strcmp(name, "__dso_handle") ||
           !strcmp(name, "__TMC_END__") || !strcmp(name, "__cpu_model") ||
           !strcmp(name, "__cpu_features2");
}

static void owns_no_globals(const char *path, struct strbuf *offences)
{
    struct object o = object_open(path);
    const elf_section *table = find_section(&o, SHT_SYMTAB);
    const elf_symbol *symbol = table ? contents(&o, table) : NULL;
    for (size_t i = 1; table && i < table->sh_size / sizeof(*symbol); i++) {
        int type = ELF64_ST_TYPE(symbol[i].st_info);
        if ((type != STT_OBJECT && type != STT_TLS) || symbol[i].st_shndx >= o.header->e_shnum)
            continue;
        const char *name = string(&o, table, symbol[i].st_name);
        if (is_mutable(section_name(&o, &o.section[symbol[i].st_shndx])) && !is_compilers(name))
            strbuf_addf(offences, "%s owns the variable %s\n", path, name);
    }
    free(o.bytes);
}

/* ---- over all plugins ---- */

typedef void (*rule_fn)(const char *path, struct strbuf *offences);

static const char *const plugin_kinds[] = {"scheme", "combine", "task", NULL};
static const char *const gemm[] = {"gemm", NULL};

/* kinds: the folders that are meant. */
static bool stands_in(const char *path, const char *const *kinds)
{
    const char *beside = strstr(path, "/peat/plugins-");
    char folder[32];
    for (; beside && *kinds; kinds++) {
        snprintf(folder, sizeof(folder), "/%s/", *kinds);
        if (strstr(beside, folder))
            return true;
    }
    return false;
}

static int walk(const char *dir, const char *const *kinds, rule_fn rule, struct strbuf *offences)
{
    char **name;
    int n, found = 0;
    if (dir_list(dir, &name, &n, NULL) != PEAT_OK)
        return 0;
    for (int i = 0; i < n; i++) {
        char *path = path_join(dir, name[i]);
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            found += walk(path, kinds, rule, offences);
        } else if (strstr(name[i], ".so") && stands_in(path, kinds)) {
            rule(path, offences);
            found++;
        }
        free(path);
    }
    names_free(name, n);
    return found;
}

static void hold_for(const char *const *kinds, rule_fn rule)
{
    struct strbuf offences;
    strbuf_init(&offences);
    char *lib = path_join(getenv("PEAT_BUILD"), "lib");
    char *lib64 = path_join(getenv("PEAT_BUILD"), "lib64");
    int found = walk(lib, kinds, rule, &offences) + walk(lib64, kinds, rule, &offences);
    free(lib);
    free(lib64);
    ck_assert_msg(found > 0, "nothing was built");
    ck_assert_msg(offences.n == 0, "\n%s", offences.text);
    strbuf_release(&offences);
}

static void hold(rule_fn rule)
{
    hold_for(plugin_kinds, rule);
}

START_TEST(plugins_export_peat_entry_alone)
{
    hold(exports_the_entry_alone);
}
END_TEST

START_TEST(plugins_link_to_libc_and_libm_alone)
{
    hold(links_to_libc_and_libm_alone);
}
END_TEST

#ifndef PEAT_SANITIZED /* sanitizers keep variables of their own */
START_TEST(plugins_own_no_globals)
{
    hold(owns_no_globals);
}
END_TEST
#endif

START_TEST(providers_export_one_symbol)
{
    hold_for(gemm, exports_the_provider_alone);
}
END_TEST

/* They are opened where they are used. What links to them breaks the rule, so it notices. */
START_TEST(the_program_links_to_no_large_library)
{
    struct strbuf offences;
    strbuf_init(&offences);
    links_to_no_large_library(getenv("PEAT"), &offences);
    ck_assert_msg(offences.n == 0, "\n%s", offences.text);
    char *lib = path_join(getenv("PEAT_BUILD"), "lib");
    walk(lib, gemm, links_to_no_large_library, &offences);
    ck_assert_uint_gt(offences.n, 0);
    free(lib);
    strbuf_release(&offences);
}
END_TEST

/* This test's own executable breaks all three rules. */
START_TEST(the_rules_notice_an_offence)
{
    static int variable;
    ck_assert_int_eq(variable++, 0);
    const rule_fn rules[] = {exports_the_entry_alone, links_to_libc_and_libm_alone,
                             owns_no_globals};
    for (int i = 0; i < 3; i++) {
        struct strbuf offences;
        strbuf_init(&offences);
        rules[i]("/proc/self/exe", &offences);
        ck_assert_uint_gt(offences.n, 0);
        strbuf_release(&offences);
    }
}
END_TEST

int main(void)
{
    if (!getenv("PEAT_BUILD")) {
        printf("skipped: PEAT_BUILD is not set\n");
        return 77;
    }
    Suite *suite = suite_create("objects");
    TCase *all = tcase_create("rules");
    tcase_add_test(all, plugins_export_peat_entry_alone);
    tcase_add_test(all, plugins_link_to_libc_and_libm_alone);
#ifndef PEAT_SANITIZED
    tcase_add_test(all, plugins_own_no_globals);
#endif
    tcase_add_test(all, providers_export_one_symbol);
    tcase_add_test(all, the_program_links_to_no_large_library);
    tcase_add_test(all, the_rules_notice_an_offence);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
