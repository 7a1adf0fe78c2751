/* SPDX-License-Identifier: MIT */
/*
 * interpose.c: a shared object for LD_PRELOAD that makes the N-th call of a kind fail.
 *
 *   PEAT_FAULT=kind:what:n:mode:who
 *     kind  alloc open read write fsync rename mkdir truncate close unlink spawn, or file: any but
 *           alloc and read
 *     what  an errno as a number; kill: SIGKILL instead of the call; short: half of a write
 *     n     the first call that fails, from 1
 *     mode  once, or on: every call from n on
 *     who   the program's first argument ("cell"), or any
 *   PEAT_FAULT_FIRED=path   made when a call fails
 *
 * Only calls from PEAT, its plugins and the libraries that read its files count: OpenBLAS, OpenMP
 * and the dynamic linker are not what is tested. Marking goes by system calls, past this file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dlfcn.h>

#define SEEN   __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

enum kind {
    ALLOC,
    OPEN,
    READ,
    WRITE,
    FSYNC,
    RENAME,
    MKDIR,
    TRUNCATE,
    CLOSE,
    UNLINK,
    SPAWN,
    FILES,
    KINDS
};

static const char *const kind_names[KINDS] = {"alloc", "open",   "read",  "write",
                                              "fsync", "rename", "mkdir", "truncate",
                                              "close", "unlink", "spawn", "file"};

enum { OURS_MAX = 64, KILL = -1, SHORT = -2 };

/* What a preloaded object is told comes by the environment, and what it keeps has no other place
 * than here. */
static struct {
    bool armed, forever;
    enum kind kind;
    int what;
    long n;
    const char *fired;
    int n_foreign;
    struct {
        uintptr_t begin, end;
    } foreign[OURS_MAX];
} plan;

static atomic_long seen;

static int note_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    static const char *const foreign[] = {"openblas", "dnnl",     "stdc++",      "libgomp",
                                          "ld-linux", "libgcc",   "libgfortran", "libquadmath",
                                          "libasan",  "libubsan", "vdso"};
    (void)size;
    (void)ctx;
    bool is_foreign = false;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
        is_foreign = is_foreign || strstr(info->dlpi_name, foreign[i]);
    for (int i = 0; is_foreign && i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || plan.n_foreign == OURS_MAX)
            continue;
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        plan.foreign[plan.n_foreign].begin = begin;
        plan.foreign[plan.n_foreign++].end = begin + info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void arm(int argc, char **argv)
{
    const char *text = getenv("PEAT_FAULT");
    char kind[16] = "", what[16] = "", mode[8] = "", who[16] = "";
    if (!text ||
        sscanf(text, "%15[^:]:%15[^:]:%ld:%7[^:]:%15s", kind, what, &plan.n, mode, who) != 5)
        return;
    if (strcmp(who, "any") != 0 && (argc < 2 || strcmp(who, argv[1]) != 0))
        return;
    while (plan.kind < KINDS && strcmp(kind, kind_names[plan.kind]) != 0)
        plan.kind++;
    plan.what = !strcmp(what, "kill") ? KILL : !strcmp(what, "short") ? SHORT : atoi(what);
    plan.forever = !strcmp(mode, "on");
    plan.fired = getenv("PEAT_FAULT_FIRED");
    dl_iterate_phdr(note_object, NULL);
    plan.armed = plan.kind < KINDS;
}

static bool counts(enum kind kind, uintptr_t caller)
{
    if (!plan.armed || (plan.kind != kind && (plan.kind != FILES || kind == ALLOC || kind == READ)))
        return false;
    for (int i = 0; i < plan.n_foreign; i++)
        if (caller >= plan.foreign[i].begin && caller < plan.foreign[i].end)
            return false;
    return true;
}

/* 0: the call is to be made; an errno, KILL never returns, SHORT. */
static int fault(enum kind kind, uintptr_t caller)
{
    if (!counts(kind, caller))
        return 0;
    long n = atomic_fetch_add(&seen, 1) + 1;
    if (n < plan.n || (n > plan.n && !plan.forever))
        return 0;
    if (plan.fired) {
        long fd = syscall(SYS_openat, AT_FDCWD, plan.fired, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0)
            syscall(SYS_close, fd);
    }
    if (plan.what == KILL)
        syscall(SYS_kill, (int)syscall(SYS_getpid), SIGKILL);
    return plan.what;
}

/* As the call fails: -1 or NULL with errno. */
static bool fails(enum kind kind, uintptr_t caller)
{
    int reason = fault(kind, caller);
    if (reason > 0)
        errno = reason;
    return reason > 0;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(type, name) ((type)(uintptr_t)next(#name))

/* ---- memory ---- */

#ifndef PEAT_SANITIZED /* a sanitizer has its own */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

SEEN void *malloc(size_t n)
{
    return fails(ALLOC, CALLER) ? NULL : __libc_malloc(n);
}

SEEN void *calloc(size_t n, size_t each)
{
    return fails(ALLOC, CALLER) ? NULL : __libc_calloc(n, each);
}

SEEN void *realloc(void *old, size_t n)
{
    return fails(ALLOC, CALLER) ? NULL : __libc_realloc(old, n);
}

SEEN void *aligned_alloc(size_t alignment, size_t n)
{
    return fails(ALLOC, CALLER) ? NULL : __libc_memalign(alignment, n);
}

SEEN int posix_memalign(void **memory, size_t alignment, size_t n)
{
    if (fails(ALLOC, CALLER))
        return ENOMEM;
    *memory = __libc_memalign(alignment, n);
    return *memory ? 0 : ENOMEM;
}
#endif

/* ---- libraries ---- */

/* What providers of matrix products load is foreign from its first call on. */
static bool is_provider(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *folder = "/gemm";
    size_t n = strlen(folder);
    return slash && slash - path > (ptrdiff_t)n && strncmp(slash - n, folder, n) == 0;
}

SEEN void *dlopen(const char *path, int flags)
{
    bool armed = plan.armed, provider = is_provider(path);
    plan.armed = armed && !provider;
    void *handle = NEXT(void *(*)(const char *, int), dlopen)(path, flags);
    if (armed && provider) {
        plan.n_foreign = 0;
        dl_iterate_phdr(note_object, NULL);
    }
    plan.armed = armed;
    return handle;
}

/* ---- files ---- */

SEEN int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (fails(OPEN, CALLER))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

SEEN FILE *fopen(const char *path, const char *mode)
{
    return fails(OPEN, CALLER) ? NULL
                               : NEXT(FILE * (*)(const char *, const char *), fopen)(path, mode);
}

SEEN DIR *opendir(const char *path)
{
    return fails(OPEN, CALLER) ? NULL : NEXT(DIR * (*)(const char *), opendir)(path);
}

SEEN ssize_t read(int fd, void *bytes, size_t n)
{
    return fails(READ, CALLER) ? -1 : NEXT(ssize_t(*)(int, void *, size_t), read)(fd, bytes, n);
}

SEEN ssize_t write(int fd, const void *bytes, size_t n)
{
    int what = fault(WRITE, CALLER);
    if (what > 0) {
        errno = what;
        return -1;
    }
    if (what == SHORT && n > 1)
        n /= 2;
    return NEXT(ssize_t(*)(int, const void *, size_t), write)(fd, bytes, n);
}

SEEN int fsync(int fd)
{
    return fails(FSYNC, CALLER) ? -1 : (int)syscall(SYS_fsync, fd);
}

SEEN int rename(const char *from, const char *to)
{
    return fails(RENAME, CALLER) ? -1 : (int)syscall(SYS_rename, from, to);
}

SEEN int mkdir(const char *path, mode_t mode)
{
    return fails(MKDIR, CALLER) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

SEEN int ftruncate(int fd, off_t size)
{
    return fails(TRUNCATE, CALLER) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* The descriptor is gone all the same, as it is on Linux. */
SEEN int close(int fd)
{
    bool bad = fails(CLOSE, CALLER);
    int reason = errno, closed = (int)syscall(SYS_close, fd);
    if (bad)
        errno = reason;
    return bad ? -1 : closed;
}

SEEN int unlink(const char *path)
{
    return fails(UNLINK, CALLER) ? -1 : (int)syscall(SYS_unlink, path);
}

SEEN int remove(const char *path)
{
    return fails(UNLINK, CALLER) ? -1 : NEXT(int (*)(const char *), remove)(path);
}

SEEN int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *files,
                      const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    int what = fault(SPAWN, CALLER);
    if (what > 0)
        return what;
    return NEXT(int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const[], char *const[]),
                posix_spawnp)(pid, file, files, attributes, argv, env);
}
