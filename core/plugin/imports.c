/* SPDX-License-Identifier: MIT */
/* imports.c: functions by which a hook's result would depend on more than its arguments. */
#include <elf.h>

#include "plugin/elf_symbols.h"
#include "plugin/registry.h"

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
    {"reads the process or the host", "hooks are functions of their arguments",
     " getpid getppid gettid getuid geteuid getlogin getcwd gethostname gethostid uname sysconf "
     "sysinfo getrusage getrlimit sched_getcpu getcpu get_nprocs get_nprocs_conf getpagesize "
     "sched_getaffinity pthread_getaffinity_np getauxval syscall ptrace "},
    {"opens files", "declare a parameter with PEAT_PATH and call the host's read_file",
     " fopen fopen64 freopen freopen64 fdopen open open64 __open_2 __open64_2 openat openat64 "
     "creat creat64 opendir fdopendir popen tmpfile tmpfile64 mkstemp mkstemp64 access faccessat "
     "stat stat64 fstatat fstatat64 __xstat lstat lstat64 readlink realpath glob scandir mmap "
     "mmap64 "
     "dlopen dlsym "},
};

/* Of the C library: memory, text, numbers, sorting, messages, errors, locks of threads, and what
 * compilers call. Beginnings of names end in '*'. */
static const char allowed[] =
    " malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign "
    "memcpy* memmove* memset* memcmp memchr memrchr memmem mempcpy* memccpy rawmemchr bcmp bcopy "
    "bzero explicit_bzero str* stp* wcs* wmem* __mem* __str* __stp* __wcs* __wmem* __explicit* "
    "isal* isas* isblank isc* isd* isgraph islower isp* iss* isupper isw* isx* tolower toupper "
    "tow* __ctype_* mb* btowc wctob atoi atol atoll atof __isoc* "
    "abs labs llabs div ldiv lldiv imax* ffs* frexp* ldexp* modf* scalb* copysign* isnan* isinf* "
    "finite* __isnan* __isinf* __finite* __signbit* __fpclassify* "
    "qsort* bsearch lfind lsearch tsearch tfind tdelete tdestroy twalk* "
    "sprintf snprintf vsprintf vsnprintf asprintf vasprintf sscanf vsscanf __sprintf* __snprintf* "
    "__vsprintf* __vsnprintf* __asprintf* __vasprintf* "
    "printf fprintf vprintf vfprintf puts fputs fputc putc putchar fwrite fflush perror stdout "
    "stderr __printf* __fprintf* __vprintf* __vfprintf* "
    "abort exit atexit __assert* __errno_location setjmp _setjmp __sigsetjmp longjmp siglongjmp "
    "__longjmp* __stack_chk_fail __chk_fail __cxa_* __gmon_start__ __libc_single_threaded "
    "dl_iterate_phdr _dl_find_object call_once mtx_* cnd_* tss_* thrd_create thrd_join "
    "pthread_mutex* pthread_cond* pthread_rwlock* pthread_spin* pthread_barrier* pthread_once "
    "pthread_create pthread_join pthread_key* pthread_getspecific pthread_setspecific ";

/* Whether the list, with spaces around its entries, has the name or a beginning of it. */
static bool lists(const char *list, const char *name)
{
    for (const char *at = list + 1; *at; at = strchr(at, ' ') + 1) {
        size_t n = strcspn(at, " *");
        if (strncmp(at, name, n) == 0 && (at[n] == '*' || !name[n]))
            return true;
    }
    return false;
}

static bool is_forbidden(const void *ctx, const elf_symbol *s, const char *name)
{
    const struct forbidden *row = ctx;
    return s->st_shndx == SHN_UNDEF && lists(row->names, name);
}

/* A function of the C library that is not allowed; other libraries are not looked at. */
static bool is_unknown(const void *ctx, const elf_symbol *s, const char *name)
{
    (void)ctx;
    return s->st_shndx == SHN_UNDEF && *name && !lists(allowed, name) && object_in_libc(name);
}

peat_status imports_check(const struct elf_image *f, struct error *err)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        const struct forbidden *row = &forbidden[i];
        const char *name = elf_find_symbol(f, SHT_DYNSYM, is_forbidden, row);
        if (name && !elf_made_by(f, "rustc"))
            return error_set(err, PEAT_INVALID, "it imports '%s', which %s: %s", name, row->what,
                             row->instead);
    }
    const char *name = elf_find_symbol(f, SHT_DYNSYM, is_unknown, NULL);
    if (name && !elf_made_by(f, "rustc"))
        return error_set(err, PEAT_INVALID,
                         "it imports '%s', which is not among the functions of the C library for "
                         "plugins: hooks are functions of their arguments",
                         name);
    return PEAT_OK;
}
