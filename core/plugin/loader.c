/* SPDX-License-Identifier: MIT */
/* loader.c: opens one shared object. Nothing of it is used before its contract has been checked. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "base/file.h"
#include "plugin/elfcheck.h"
#include "plugin/registry.h"

/*
 * How this thread rounds, traps and treats denormals: an object linked with -ffast-math changes it
 * when it is loaded, for everything that runs later. The low six bits only record what happened.
 */
#if defined(__SSE__)
static unsigned rounding_get(void)
{
    return _mm_getcsr() & ~0x3fu;
}

static void rounding_set(unsigned mode)
{
    _mm_setcsr(mode);
}
#else
static unsigned rounding_get(void)
{
    return 0;
}

static void rounding_set(unsigned mode)
{
    (void)mode;
}
#endif

/* Beyond any plugin; a file that only claims to be large is not read to its end. */
enum { LARGEST_OBJECT = 1 << 28 };

/* Its head first, which tells most of what is no plugin without reading the rest. */
static peat_status check_object(int fd, const char *path, char hex[HASH_HEX], struct error *err)
{
    char head[ELF_HEAD], *bytes;
    size_t n;
    ssize_t got = pread(fd, head, sizeof(head), 0);
    if (got < 0)
        return error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(errno));
    peat_status status = elf_check_head(path, head, (size_t)got, err);
    if (status == PEAT_OK)
        status = fd_read(fd, path, LARGEST_OBJECT, &bytes, &n, err);
    if (status != PEAT_OK)
        return status;
    status = elf_check(path, bytes, n, err);
    if (status == PEAT_OK)
        hash_bytes(bytes, n, hex);
    free(bytes);
    return status;
}

/* Reads the file once, for its hash and for what is wrong with it. `seen`: the file it was. */
static peat_status read_object(const char *path, char hex[HASH_HEX], struct stat *seen,
                               struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status == PEAT_NOTFOUND)
        error_set(err, status, "cannot open plugin '%s': %s", path, strerror(ENOENT));
    if (status != PEAT_OK)
        return status;
    fstat(fd, seen);
    status = check_object(fd, path, hex, err);
    close(fd);
    return status;
}

/* The linker opens the file by its name: it must still be the one whose hash is recorded. Renaming
 * or writing a file changes its ctime. */
static peat_status check_unchanged(const char *path, const struct stat *seen, struct error *err)
{
    struct stat now;
    if (stat(path, &now) == 0 && now.st_dev == seen->st_dev && now.st_ino == seen->st_ino &&
        now.st_size == seen->st_size && now.st_ctim.tv_sec == seen->st_ctim.tv_sec &&
        now.st_ctim.tv_nsec == seen->st_ctim.tv_nsec)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "'%s' was replaced while it was loaded; run again", path);
}

/* The linker's message without the path it mostly starts with. */
static const char *linker_text(const char *path)
{
    const char *text = dlerror();
    size_t n = strlen(path);
    if (!text)
        return "unknown reason";
    if (!strncmp(text, path, n) && !strncmp(text + n, ": ", 2))
        return text + n + 2;
    return text;
}

static peat_status open_object(const char *path, const char *real, void **handle, struct error *err)
{
    unsigned rounding = rounding_get();
    *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool changed = rounding_get() != rounding;
    rounding_set(rounding);
    if (!*handle)
        return error_set(err, PEAT_INVALID, "cannot load '%s': %s", path, linker_text(real));
    if (changed)
        return error_set(err, PEAT_INVALID,
                         "'%s' was linked with -ffast-math: loading it changes how every number "
                         "is rounded",
                         path);
    return PEAT_OK;
}

static peat_status read_descriptor(const char *path, void *handle, const peat_plugin **desc,
                                   struct error *err)
{
    void *symbol = dlsym(handle, PEAT_ENTRY_NAME);
    if (!symbol)
        return error_set(err, PEAT_INVALID, "'%s' is not a PEAT plugin: it has no %s", path,
                         PEAT_ENTRY_NAME);
    /* POSIX: a symbol's address may be copied into a pointer to a function. */
    peat_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry));
    *desc = entry();
    peat_status status = plugin_contract(*desc, err);
    if (status != PEAT_OK)
        error_prefix(err, "'%s'", path);
    return status;
}

/* "dir/rotary.so" -> "rotary" */
static const char *stem(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(a, slash ? slash + 1 : path);
    size_t n = strlen(name);
    if (n > 3 && !strcmp(name + n - 3, ".so"))
        name[n - 3] = '\0';
    return name;
}

static peat_status load_real(struct arena *a, const char *path, const char *real,
                             struct plugin *plugin, struct error *err)
{
    void *handle;
    peat_status status = open_object(path, real, &handle, err);
    if (status == PEAT_OK)
        status = read_descriptor(path, handle, &plugin->desc, err);
    if (status != PEAT_OK)
        return status;
    plugin->name = stem(a, path);
    plugin->path = arena_strdup(a, real);
    return PEAT_OK;
}

peat_status plugin_load(struct arena *a, const char *path, const struct plugin **plugin,
                        struct error *err)
{
    struct plugin *loaded = ARENA_NEW(a, struct plugin);
    struct stat seen;
    peat_status status = read_object(path, loaded->sha256, &seen, err);
    if (status != PEAT_OK)
        return status;
    char *real = realpath(path, NULL);
    if (!real)
        return error_set(err, PEAT_IO, "cannot open plugin '%s': %s", path, strerror(errno));
    status = load_real(a, path, real, loaded, err);
    free(real);
    if (status == PEAT_OK)
        status = check_unchanged(path, &seen, err);
    if (status == PEAT_OK)
        *plugin = loaded;
    return status;
}
