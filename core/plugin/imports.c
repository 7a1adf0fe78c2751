/* SPDX-License-Identifier: MIT */
/* imports.c: functions by which a hook's result would depend on more than its arguments. */
#include <elf.h>

#include "plugin/elf_symbols.h"
#include "plugin/registry.h"

static const struct forbidden {
    const char *what, *instead, *names;
    bool loads; /* such a plugin runs, and fails its check */
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
    {"reads the process or the host", "hooks are functions of their arguments",
     " getpid getppid gettid getuid geteuid getlogin getcwd gethostname gethostid uname sysconf "
     "sysinfo getrusage getrlimit sched_getcpu getcpu get_nprocs get_nprocs_conf getpagesize "
     "sched_getaffinity pthread_getaffinity_np getauxval syscall ptrace ",
     true},
    {"looks at files", "declare a parameter with PEAT_PATH and call the host's read_file",
     " access faccessat stat stat64 fstatat fstatat64 __xstat lstat lstat64 readlink realpath glob "
     "scandir mmap mmap64 dlopen dlsym ",
     true},
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

peat_status imports_check(const struct elf_image *f, bool loads, struct error *err)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        const struct forbidden *row = &forbidden[i];
        const char *name =
            loads && row->loads ? NULL : elf_find_symbol(f, SHT_DYNSYM, is_forbidden, row);
        if (name && !elf_made_by(f, "rustc"))
            return error_set(err, PEAT_INVALID, "it imports '%s', which %s: %s", name, row->what,
                             row->instead);
    }
    return PEAT_OK;
}
