/* SPDX-License-Identifier: MIT */
/* file.c: reads whole files; directories and paths. */

#include <dirent.h>
#include <ftw.h>
#include <poll.h>

#include "file_open.h"

peat_status dir_sync_parent(const char *path, struct error *err)
{
    return dir_sync(path_folder(path).text, err);
}

static peat_status too_large(struct error *err, const char *path, const char *more, size_t n,
                             size_t limit)
{
    return error_set(err, PEAT_INVALID, "'%s' has %s%zu bytes, the limit is %zu", path, more, n,
                     limit);
}

/* Files of the kernel in /proc and /sys have size 0. Some can be read for ever, others block a
 * reader for ever. */
static peat_status endless(struct error *err, const char *path)
{
    return error_set(err, PEAT_INVALID,
                     "'%s' is made by the kernel while it is read, and has no end", path);
}

/* Reads to the end whatever fstat returned: files in /proc have size 0, others grow. */
static peat_status read_all(int fd, const char *path, const struct stat *st, size_t limit,
                            char **bytes, size_t *n, struct error *err)
{
    enum { KERNEL_MOST = 64 << 20 };
    bool regular = S_ISREG(st->st_mode);
    size_t room = st->st_size > 0 ? (size_t)st->st_size + 2 : 4096, used = 0;
    char *buffer = malloc(room);
    while (buffer) {
        if (limit && used > limit) {
            free(buffer);
            return too_large(err, path, "at least ", used, limit);
        }
        if (regular && st->st_size == 0 && used > KERNEL_MOST) {
            free(buffer);
            return endless(err, path);
        }
        if (room - used < 2) {
            if (room > SIZE_MAX / 4)
                break;
            room = room < 4096 ? 8192 : room * 2;
            char *larger = realloc(buffer, room);
            if (!larger)
                break;
            buffer = larger;
        }
        ssize_t got = read(fd, buffer + used, room - used - 1);
        if (got > 0)
            used += (size_t)got;
        if (got == 0) {
            buffer[used] = '\0';
            *bytes = buffer;
            *n = used;
            return PEAT_OK;
        }
        if (got < 0 && errno == EAGAIN && regular) {
            free(buffer);
            return endless(err, path);
        }
        if (got < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        else if (got < 0 && errno != EINTR) {
            peat_status status = file_failure(err, "read", path);
            free(buffer);
            return status;
        }
    }
    free(buffer);
    return error_set(err, PEAT_NOMEM, "out of memory for '%s'", path);
}

peat_status fd_read(int fd, const char *path, size_t limit, char **bytes, size_t *n,
                    struct error *err)
{
    struct stat st;
    peat_status status;
    if (fstat(fd, &st) < 0)
        status = file_failure(err, "read", path);
    else if (S_ISDIR(st.st_mode))
        status = file_refused(err, PEAT_INVALID, path, st.st_mode);
    else if (limit && st.st_size > 0 && (size_t)st.st_size > limit)
        status = too_large(err, path, "", (size_t)st.st_size, limit);
    else
        status = read_all(fd, path, &st, limit, bytes, n, err);
    return status;
}

static peat_status read_and_close(int fd, const char *path, size_t limit, char **bytes, size_t *n,
                                  struct error *err)
{
    peat_status status = fd_read(fd, path, limit, bytes, n, err);
    close(fd);
    return status;
}

peat_status file_read(const char *path, size_t limit, char **bytes, size_t *n, struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    return status == PEAT_OK ? read_and_close(fd, path, limit, bytes, n, err) : status;
}

/* A regular file is opened again, so that it can be read more than once. */
peat_status file_read_stream(const char *path, size_t limit, char **bytes, size_t *n,
                             struct error *err)
{
    struct stat st;
    int given = file_descriptor(path);
    if (given < 0 || fstat(given, &st) < 0 || S_ISREG(st.st_mode))
        return file_read(path, limit, bytes, n, err);
    int fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
    return fd < 0 ? file_failure(err, "open", path)
                  : read_and_close(fd, path, limit, bytes, n, err);
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct file_path path_folder(const char *path)
{
    struct file_path folder = {"."};
    int n = (int)(path_name(path) - path);
    if (n)
        snprintf(folder.text, sizeof(folder.text), "%.*s", n > 1 ? n - 1 : n, path);
    return folder;
}

const char *path_bare(const char *path, struct arena *a)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return arena_printf(a, "%.*s", (int)n, path);
}

bool path_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

static peat_status make_one(const char *path, struct error *err)
{
    if (path_is_directory(path))
        return PEAT_OK;
    if (mkdir(path, 0777) == 0)
        return dir_sync_parent(path, err);
    int reason = errno;
    if (reason == EEXIST && path_is_directory(path))
        return PEAT_OK;
    errno = reason == EEXIST ? ENOTDIR : reason;
    return file_failure(err, "make directory", path);
}

peat_status dir_make(const char *path, struct error *err)
{
    struct strbuf prefix = STRBUF_NEW;
    peat_status status = PEAT_OK;
    for (const char *end = path; status == PEAT_OK && *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        strbuf_clear(&prefix);
        strbuf_add_bytes(&prefix, path, (size_t)(end - path));
        status = make_one(prefix.text, err);
    }
    strbuf_release(&prefix);
    return status;
}

/* File systems that cannot sync a directory return EINVAL; they order names by themselves. */
peat_status dir_sync(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return file_failure(err, "open directory", path);
    peat_status status = PEAT_OK;
    if (fsync(fd) < 0 && errno != EINVAL)
        status = file_failure(err, "sync directory", path);
    close(fd);
    return status;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_is_same(const char *one, const char *two)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(two, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool dir_has(const char *dir, const char *name)
{
    return file_exists(path_in(dir, name).text);
}

peat_status file_remove(const char *dir, const char *name, struct error *err)
{
    const struct file_path path = path_in(dir, name);
    bool gone = unlink(path.text) == 0 || errno == ENOENT;
    return gone ? PEAT_OK : file_failure(err, "remove", path.text);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

peat_status dir_remove(const char *path, struct error *err)
{
    enum { OPEN_DIRECTORIES = 16 };
    if (nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return PEAT_OK;
    return file_failure(err, "remove", path);
}

char *path_beside(const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    struct strbuf b = STRBUF_NEW;
    if (slash && path[0] != '/')
        strbuf_add_bytes(&b, beside, (size_t)(slash - beside) + 1);
    strbuf_add(&b, path);
    return strbuf_detach(&b);
}

struct file_path path_in(const char *dir, const char *name)
{
    struct file_path path;
    snprintf(path.text, sizeof(path.text), "%s/%s", dir, name);
    return path;
}

char *path_join(const char *a, const char *b)
{
    struct strbuf path = STRBUF_NEW;
    strbuf_add(&path, a);
    if (path.n && path.text[path.n - 1] != '/')
        strbuf_add_bytes(&path, "/", 1);
    strbuf_add(&path, b);
    return strbuf_detach(&path);
}

/* Adds a copy of the name; the array is doubled at each power of two. */
static void names_add(char ***name, int *n, const char *text)
{
    if ((*n & (*n - 1)) == 0)
        *name = realloc(*name, (*n ? (size_t)*n * 2 : 1) * sizeof(**name));
    char *copy = strdup(text);
    if (!*name || !copy)
        out_of_memory("file names");
    (*name)[(*n)++] = copy;
}

/* 0, or -1 with errno. */
static int names_read(DIR *dir, char ***name, int *n)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? -1 : 0;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            names_add(name, n, entry->d_name);
    }
}

peat_status dir_list(const char *path, char ***name, int *n, struct error *err)
{
    DIR *dir = opendir(path);
    peat_status status = PEAT_OK;
    *name = NULL;
    *n = 0;
    if (!dir || names_read(dir, name, n) < 0)
        status = file_failure(err, "list", path);
    if (dir)
        closedir(dir);
    if (status != PEAT_OK) {
        names_free(*name, *n);
        *name = NULL;
        *n = 0;
    }
    if (*n)
        qsort(*name, (size_t)*n, sizeof(**name), compare_texts);
    return status;
}

void names_free(char **name, int n)
{
    for (int i = 0; i < n; i++)
        free(name[i]);
    free(name);
}
