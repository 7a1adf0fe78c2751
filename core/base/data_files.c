/* SPDX-License-Identifier: MIT */
/* data_files.c: the table of data files of one process. */

#include "base/base.h"
#include <sys/mman.h>
#include <sys/sysinfo.h>

/* ---- mmap, with a page of zeros behind the file ---- */

/* Reserves addresses for the file and at least one byte more, and maps the file over them. */
static const unsigned char *map(int fd, size_t bytes)
{
    unsigned char *room =
        mmap(NULL, bytes + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    if (bytes > 0 && mmap(room, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        int reason = errno;
        munmap(room, bytes + 1);
        errno = reason;
        return NULL;
    }
    return room;
}

/* The errors of file_open, and PEAT_NOMEM: too little address space (`ulimit -v`). Pages that
 * another program has already changed through a mapping are written out first: only then does the
 * next change through it set the file's times. */
static peat_status map_file(struct data_file *m, const char *path, struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    *m = (struct data_file){.path = path, .mapped = true, .fd = fd};
    (void)!fdatasync(fd);
    if (fstat(fd, &m->was) == 0) {
        m->bytes = (size_t)m->was.st_size;
        m->byte = map(fd, m->bytes);
    }
    if (m->byte)
        return PEAT_OK;
    int reason = errno;
    close(fd);
    return error_set(err, reason == ENOMEM ? PEAT_NOMEM : PEAT_IO,
                     "cannot map the %ju bytes of '%s' into memory: %s", (uintmax_t)m->was.st_size,
                     path, strerror(reason));
}

static peat_status was_written(const struct data_file *m, struct error *err)
{
    return error_set(err, PEAT_INVALID,
                     "'%s' was written while it was being read: a file of this size is mapped into "
                     "memory and must stay as it is; run again when nothing writes it any more",
                     m->path);
}

static bool same_time(struct timespec x, struct timespec y)
{
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
}

static peat_status check_bytes(const struct data_file *m, struct error *err)
{
    char hex[HASH_HEX];
    peat_status status = hash_descriptor(m->fd, m->path, hex, err);
    return status != PEAT_OK || strcmp(hex, m->hex) == 0 ? status : was_written(m, err);
}

/* PEAT_INVALID: the mapped file's size or time of last writing differs, or its bytes do. Takes
 * about a microsecond, unless only its time of last change differs: it was renamed or removed, or
 * somebody set the time of last writing back. */
static peat_status check_mapped(struct data_file *m, struct error *err)
{
    struct stat now;
    if (fstat(m->fd, &now) != 0 || same_time(now.st_ctim, m->was.st_ctim))
        return PEAT_OK;
    if (now.st_size != m->was.st_size || !same_time(now.st_mtim, m->was.st_mtim))
        return was_written(m, err);
    m->was = now;
    return check_bytes(m, err);
}

/* ---- the table ---- */

static struct data_file *find(const struct data_files *f, const char *path)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->item[i].path, path))
            return &f->item[i];
    return NULL;
}

bool data_is_known(const struct data_files *f, const char *path)
{
    return find(f, path) != NULL;
}

static struct data_file *data_files_add(struct data_files *f, const char *path, const char *hex)
{
    struct data_file *d = ARENA_APPEND(f->a, f->item, f->n, f->room);
    d->path = arena_strdup(f->a, path);
    memcpy(d->hex, hex, HASH_HEX);
    return d;
}

static bool has_room_for(const struct data_files *f, const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (uint64_t)st.st_size <= f->keep_most - f->kept;
}

static bool is_large(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= DATA_MAPPED_FROM;
}

static peat_status read_into(const char *path, struct arena *a, const unsigned char **byte,
                             size_t *bytes, struct error *err)
{
    char *text;
    peat_status status = file_read(path, 0, &text, bytes, err);
    if (status != PEAT_OK)
        return status;
    unsigned char *copy = arena_try_alloc(a, *bytes + 1);
    if (copy)
        memcpy(copy, text, *bytes + 1);
    else
        status = error_set(err, PEAT_NOMEM, "no memory for the %zu bytes of '%s'", *bytes, path);
    free(text);
    *byte = copy;
    return status;
}

/* Refuses a file that is larger than memory and almost entirely a hole, because it has no data and
 * hashing it would take hours. Other files may be larger than memory. */
static peat_status refuse_holes(const struct data_file *m, const char *path, struct error *err)
{
    enum { BLOCK = 512, COMPRESSED = 16 };
    struct sysinfo machine;
    if (sysinfo(&machine) != 0)
        return PEAT_OK;
    uint64_t memory = ((uint64_t)machine.totalram + machine.totalswap) * machine.mem_unit;
    uint64_t stored = (uint64_t)m->was.st_blocks * BLOCK;
    if (m->bytes <= memory || stored >= m->bytes / COMPRESSED)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' has %zu GiB, more than the memory of this machine, and nearly all of it "
                     "was never written (a sparse file)",
                     path, m->bytes >> 30);
}

/* Records the hash of a file that was read, or compares it with the one recorded before. */
static peat_status settle(struct data_files *f, const char *path, const char *hex,
                          struct data_file **d, struct error *err)
{
    *d = find(f, path);
    if (*d && strcmp((*d)->hex, hex) != 0)
        return error_set(err, PEAT_INVALID,
                         "'%s' has changed since it was first read: its SHA-256 was %.8s..., and "
                         "now is %.8s...; run again when nothing writes it any more",
                         path, (*d)->hex, hex);
    if (!*d)
        *d = data_files_add(f, path, hex);
    return PEAT_OK;
}

static peat_status read_small(struct data_files *f, const char *path, struct arena *a,
                              const unsigned char **byte, size_t *bytes, struct error *err)
{
    char hex[HASH_HEX];
    struct data_file *d;
    bool keep = has_room_for(f, path);
    peat_status status = read_into(path, keep ? f->a : a, byte, bytes, err);
    if (status != PEAT_OK)
        return status;
    hash_bytes(*byte, *bytes, hex);
    status = settle(f, path, hex, &d, err);
    if (status == PEAT_OK && keep) {
        d->byte = *byte;
        d->bytes = *bytes;
        f->kept = *bytes < f->keep_most - f->kept ? f->kept + *bytes : f->keep_most;
    }
    return status;
}

/* The mapping is kept whatever keep_most says, because it costs addresses and not memory. */
static peat_status map_large(struct data_files *f, const char *path, const unsigned char **byte,
                             size_t *bytes, struct error *err)
{
    struct data_file m, *d;
    peat_status status = map_file(&m, path, err);
    if (status != PEAT_OK)
        return status;
    status = refuse_holes(&m, path, err);
    if (status == PEAT_OK)
        status = hash_descriptor(m.fd, path, m.hex, err);
    if (status == PEAT_OK)
        status = check_mapped(&m, err);
    if (status == PEAT_OK)
        status = settle(f, path, m.hex, &d, err);
    if (status != PEAT_OK) {
        close(m.fd);
        return status;
    }
    m.path = d->path;
    *d = m;
    *byte = d->byte;
    *bytes = d->bytes;
    return PEAT_OK;
}

peat_status data_read(struct data_files *f, const char *path, struct arena *a,
                      const unsigned char **byte, size_t *bytes, struct error *err)
{
    const struct data_file *d = find(f, path);
    if (!d || !d->byte)
        return is_large(path) ? map_large(f, path, byte, bytes, err)
                              : read_small(f, path, a, byte, bytes, err);
    *byte = d->byte;
    *bytes = d->bytes;
    return PEAT_OK;
}

static peat_status each_mapped(const struct data_files *f, struct error *err, bool bytes)
{
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < f->n; i++) {
        struct data_file *m = &f->item[i];
        if (m->mapped)
            status = check_mapped(m, err);
        if (m->mapped && bytes && status == PEAT_OK)
            status = check_bytes(m, err);
    }
    return status;
}

peat_status data_check(const struct data_files *f, struct error *err)
{
    return each_mapped(f, err, false);
}

peat_status data_check_bytes(const struct data_files *f, struct error *err)
{
    return each_mapped(f, err, true);
}

/* Hashes the file without keeping its bytes. */
static peat_status hash_alone(struct data_files *f, const char *path, struct error *err)
{
    char hex[HASH_HEX];
    peat_status status = hash_file(path, hex, err);
    if (status == PEAT_OK)
        data_files_add(f, path, hex);
    return status;
}

static peat_status hash_folder(struct data_files *f, const char *dir, struct error *err)
{
    static const char *const names[] = {DATA_FOLDER_IDS, DATA_FOLDER_PIECES};
    struct strbuf lines = STRBUF_NEW;
    char hex[HASH_HEX];
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < 2; i++) {
        const char *one = "";
        status = data_hash(f, path_in(dir, names[i]).text, &one, err);
        strbuf_addf(&lines, "%s  %s\n", one, names[i]);
    }
    hash_bytes(lines.text, lines.n, hex);
    if (status == PEAT_OK)
        data_files_add(f, dir, hex);
    strbuf_release(&lines);
    return status;
}

peat_status data_hash(struct data_files *f, const char *path, const char **hex, struct error *err)
{
    const unsigned char *byte;
    size_t bytes;
    peat_status status = PEAT_OK;
    bool keep = f->keep_most > 0 && (has_room_for(f, path) || is_large(path));
    bool is_folder = !find(f, path) && path_is_directory(path);
    if (is_folder && !dir_has(path, DATA_FOLDER_PIECES))
        status = error_set(err, PEAT_INVALID,
                           "'%s' is a directory, and not one that `peat tokenize` "
                           "makes: it has no '%s'",
                           path, DATA_FOLDER_PIECES);
    else if (is_folder)
        status = hash_folder(f, path, err);
    else if (!find(f, path))
        status = keep ? data_read(f, path, f->a, &byte, &bytes, err) : hash_alone(f, path, err);
    if (status == PEAT_OK)
        *hex = arena_strdup(f->a, find(f, path)->hex);
    return status;
}
