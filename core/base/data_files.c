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

/* The errors of file_open, and PEAT_NOMEM: too little address space (`ulimit -v`). */
static peat_status map_file(struct data_file *m, const char *path, struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    *m = (struct data_file){.mapped = true};
    if (fstat(fd, &m->was) == 0) {
        m->bytes = (size_t)m->was.st_size;
        m->byte = map(fd, m->bytes);
    }
    int reason = errno;
    close(fd);
    if (m->byte)
        return PEAT_OK;
    return error_set(err, reason == ENOMEM ? PEAT_NOMEM : PEAT_IO,
                     "cannot map the %ju bytes of '%s' into memory: %s", (uintmax_t)m->was.st_size,
                     path, strerror(reason));
}

/* PEAT_INVALID: the file at `path` is the mapped one, and its size or time of last change differs.
 * Takes about a microsecond. */
static peat_status check_mapped(const struct data_file *m, const char *path, struct error *err)
{
    struct stat now;
    const struct stat *was = &m->was;
    if (stat(path, &now) != 0 || now.st_dev != was->st_dev || now.st_ino != was->st_ino)
        return PEAT_OK;
    if (now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' was written while it was being read: a file of this size is mapped into "
                     "memory and must stay as it is; run again when nothing writes it any more",
                     path);
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

static struct data_file *add(struct data_files *f, const char *path, const char *hex)
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
        *d = add(f, path, hex);
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

/* The mapping is kept whatever keep_most says, because it costs addresses and not memory. It is
 * opened before the file is hashed, so that writing in between is noticed. */
static peat_status map_large(struct data_files *f, const char *path, const unsigned char **byte,
                             size_t *bytes, struct error *err)
{
    char hex[HASH_HEX];
    struct data_file m, *d;
    struct error why = {0};
    bool ok = map_file(&m, path, &why) == PEAT_OK && refuse_holes(&m, path, &why) == PEAT_OK &&
              hash_file(path, hex, &why) == PEAT_OK && check_mapped(&m, path, &why) == PEAT_OK &&
              settle(f, path, hex, &d, &why) == PEAT_OK;
    if (!ok)
        return error_copy(err, &why);
    m.path = d->path;
    memcpy(m.hex, hex, HASH_HEX);
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

peat_status data_check(const struct data_files *f, struct error *err)
{
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < f->n; i++)
        if (f->item[i].mapped)
            status = check_mapped(&f->item[i], f->item[i].path, err);
    return status;
}

/* Hashes the file without keeping its bytes. */
static peat_status hash_alone(struct data_files *f, const char *path, struct error *err)
{
    char hex[HASH_HEX];
    peat_status status = hash_file(path, hex, err);
    if (status == PEAT_OK)
        add(f, path, hex);
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
        add(f, dir, hex);
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
