/* SPDX-License-Identifier: MIT */
/* object.c: opens shared objects, with checks of the file before and after the dynamic linker, and
 * finds the directories that have them. */

#include "base/base.h"
#include <dlfcn.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

unsigned rounding_get(void)
{
#if defined(__SSE__)
    return _mm_getcsr() & ~0x3fu;
#else
    return 0;
#endif
}

void rounding_set(unsigned mode)
{
    (void)mode;
#if defined(__SSE__)
    _mm_setcsr(mode);
#endif
}

/* Larger than any plugin or provider, so a file that only claims to be large is not read to its
 * end. */
enum { LARGEST_OBJECT = 1 << 28 };

static peat_status object_read_whole(int fd, const char *path, char hex[HASH_HEX],
                                     struct error *err)
{
    char *bytes;
    size_t n;
    peat_status status = fd_read(fd, path, LARGEST_OBJECT, &bytes, &n, err);
    if (status != PEAT_OK)
        return status;
    status = elf_check(path, bytes, n, n, err);
    if (status == PEAT_OK)
        hash_bytes(bytes, n, hex);
    free(bytes);
    return status;
}

/* Checks the head first, which refuses most other files without reading the rest. */
static peat_status check_object(int fd, const char *path, enum object_hash hash, uint64_t size,
                                char hex[HASH_HEX], struct error *err)
{
    char head[2048]; /* linkers put the table of segments after the header */
    ssize_t got = pread(fd, head, sizeof(head), 0);
    if (got < 0)
        return error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(errno));
    peat_status status = elf_check_head(path, head, (size_t)got, err);
    if (status == PEAT_OK && hash == OBJECT_UNHASHED && elf_has_table(head, (size_t)got))
        return elf_check(path, head, (size_t)got, size, err);
    return status == PEAT_OK ? object_read_whole(fd, path, hex, err) : status;
}

/* The path of the descriptor's file, whatever file has its name by now. */
static const char *real_path(int fd, const char *path, struct arena *a)
{
    char name[32], found[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, found, sizeof(found));
    if (n > 0 && n < (ssize_t)sizeof(found))
        return arena_printf(a, "%.*s", (int)n, found);
    char *real = realpath(path, NULL);
    const char *kept = real ? arena_strdup(a, real) : path;
    free(real);
    return kept;
}

static peat_status open_object(const char *what, const char *path, int *fd, struct stat *seen,
                               struct error *err)
{
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, fd, err);
    if (status == PEAT_NOTFOUND)
        error_set(err, status, "cannot open %s '%s': %s", what, path, strerror(ENOENT));
    if (status == PEAT_OK)
        fstat(*fd, seen);
    return status;
}

/* Reads the file once, to hash and to check it. `seen`: the file that was read. */
static peat_status read_object(struct object *o, const char *what, const char *path,
                               enum object_hash hash, struct stat *seen, struct arena *a,
                               struct error *err)
{
    int fd;
    peat_status status = open_object(what, path, &fd, seen, err);
    if (status != PEAT_OK)
        return status;
    o->sha256[0] = '\0';
    status = check_object(fd, path, hash, (uint64_t)seen->st_size, o->sha256, err);
    if (status == PEAT_OK)
        o->path = real_path(fd, path, a);
    close(fd);
    return status;
}

/* The linker opens the file by its name, so it must still be the file whose hash is recorded.
 * Renaming or writing a file changes its ctime. */
static peat_status check_unchanged(const char *path, const struct stat *seen, struct error *err)
{
    struct stat now;
    if (stat(path, &now) == 0 && now.st_dev == seen->st_dev && now.st_ino == seen->st_ino &&
        now.st_size == seen->st_size && now.st_ctim.tv_sec == seen->st_ctim.tv_sec &&
        now.st_ctim.tv_nsec == seen->st_ctim.tv_nsec)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "'%s' was replaced while it was loaded; run again", path);
}

/* The linker's message without the path that it mostly starts with. `text` NULL: no message. */
static const char *linker_text(const char *text, const char *path)
{
    size_t n = strlen(path);
    if (!text)
        return "unknown reason";
    if (!strncmp(text, path, n) && !strncmp(text + n, ": ", 2))
        return text + n + 2;
    return text;
}

static peat_status load(struct object *o, const char *path, struct error *err)
{
    unsigned rounding = rounding_get();
    o->handle = dlopen(o->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool changed = rounding_get() != rounding;
    rounding_set(rounding);
    const char *text = o->handle ? NULL : dlerror();
    if (text && strstr(text, "position-independent executable"))
        return error_set(err, PEAT_INVALID, "'%s' is not a shared object but an executable", path);
    if (!o->handle)
        return error_set(err, PEAT_INVALID, "cannot load '%s': %s", path,
                         linker_text(text, o->path));
    if (changed)
        return error_set(err, PEAT_INVALID,
                         "'%s' was linked with -ffast-math: loading it changes how every number "
                         "is rounded",
                         path);
    return PEAT_OK;
}

peat_status object_open(struct object *o, const char *what, const char *path, enum object_hash hash,
                        struct arena *a, struct error *err)
{
    struct stat seen;
    peat_status status = read_object(o, what, path, hash, &seen, a, err);
    if (status == PEAT_OK)
        status = load(o, path, err);
    return status == PEAT_OK ? check_unchanged(path, &seen, err) : status;
}

/* n bytes without surrounding spaces and the final NUL. */
static const char *trimmed(const char *text, size_t n, struct arena *a)
{
    for (; n > 0 && *text == ' '; n--)
        text++;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\0'))
        n--;
    return arena_printf(a, "%.*s", (int)n, text);
}

/* Linkers put notes after the table of segments. */
peat_status object_note(const char *what, const char *path, const char *owner, const char **text,
                        struct arena *a, struct error *err)
{
    char head[4096], hex[HASH_HEX];
    int fd;
    struct stat seen;
    *text = NULL;
    peat_status status = open_object(what, path, &fd, &seen, err);
    if (status != PEAT_OK)
        return status;
    status = check_object(fd, path, OBJECT_UNHASHED, (uint64_t)seen.st_size, hex, err);
    ssize_t got = status == PEAT_OK ? pread(fd, head, sizeof(head), 0) : 0;
    close(fd);
    size_t n;
    const char *note = got > 0 ? elf_note(head, (size_t)got, owner, &n) : NULL;
    if (note)
        *text = trimmed(note, n, a);
    return status;
}

void *object_symbol(const struct object *o, const char *name)
{
    return dlsym(o->handle, name);
}

bool object_is_named(const char *path)
{
    return path_ends_in(path, ".so");
}

const char *object_stem(struct arena *a, const char *path)
{
    char *name = arena_strdup(a, path_name(path));
    if (object_is_named(name))
        name[strlen(name) - 3] = '\0';
    return name;
}

/* ---- the directories that are searched ---- */

#define DIRECTORIES_MAX ((int)(sizeof(((struct plugin_dirs *)0)->dir) / sizeof(const char *)))

static peat_status add_directory(struct plugin_dirs *d, const char *path, struct error *err)
{
    if (d->n == DIRECTORIES_MAX)
        return error_set(err, PEAT_INVALID, "PEAT_PLUGIN_PATH names more than %d directories",
                         DIRECTORIES_MAX - 2);
    for (int i = 0; i < d->n; i++)
        if (!strcmp(d->dir[i], path))
            return PEAT_OK;
    d->dir[d->n++] = path;
    return PEAT_OK;
}

static peat_status add_path_list(struct plugin_dirs *d, const char *list, struct arena *a,
                                 struct error *err)
{
    peat_status status = PEAT_OK;
    for (const char *path; status == PEAT_OK && (path = list_next(a, &list, ':'));)
        status = *path ? add_directory(d, path, err) : PEAT_OK;
    return status;
}

/* <directory of the program>/.. ; NULL without /proc. */
static char *program_prefix(struct arena *a)
{
    char *exe = realpath("/proc/self/exe", NULL);
    if (!exe)
        return NULL;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(exe, '/');
        if (slash)
            *slash = '\0';
    }
    char *prefix = arena_strdup(a, exe);
    free(exe);
    return prefix;
}

const char *installed_dir(struct arena *a, const char *dir)
{
    const char *prefix = dir[0] == '/' ? "" : program_prefix(a);
    return prefix ? arena_printf(a, "%s%s%s", prefix, *prefix ? "/" : "", dir) : NULL;
}

static peat_status add_installed(struct plugin_dirs *d, struct arena *a, struct error *err)
{
    const char *lib = installed_dir(a, PEAT_LIBDIR);
    return lib ? add_directory(d, arena_printf(a, "%s/%s", lib, PEAT_PLUGIN_SUBDIR), err) : PEAT_OK;
}

peat_status plugin_dirs_find(struct plugin_dirs *d, struct arena *a, struct error *err)
{
    *d = (struct plugin_dirs){0};
    const char *list = getenv("PEAT_PLUGIN_PATH");
    const char *home = getenv("HOME");
    peat_status status = list ? add_path_list(d, list, a, err) : PEAT_OK;
    if (status == PEAT_OK && home && *home)
        status =
            add_directory(d, arena_printf(a, "%s/.local/lib/%s", home, PEAT_PLUGIN_SUBDIR), err);
    return status == PEAT_OK ? add_installed(d, a, err) : status;
}

void plugin_dirs_add(const struct plugin_dirs *d, struct strbuf *out)
{
    strbuf_add(out, " (searched in");
    for (int i = 0; i < d->n; i++)
        strbuf_addf(out, "%s '%s'", i ? "," : "", d->dir[i]);
    strbuf_add(out, ")");
}
