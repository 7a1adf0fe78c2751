/* SPDX-License-Identifier: MIT */
/* data_files.c: the table of data files of one process. */
#include "base/data_files.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "base/file.h"

static struct data_file *find(const struct data_files *f, const char *path)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->item[i].path, path))
            return &f->item[i];
    return NULL;
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

/* Data are read whole: what no memory can hold is refused before it is looked at. */
static peat_status check_size(const char *path, struct error *err)
{
    struct stat st;
    struct sysinfo machine;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || sysinfo(&machine) != 0)
        return PEAT_OK;
    uint64_t memory = ((uint64_t)machine.totalram + machine.totalswap) * machine.mem_unit;
    if ((uint64_t)st.st_size <= memory)
        return PEAT_OK;
    return error_set(err, PEAT_NOMEM,
                     "'%s' has %jd GiB, more than the memory of this machine, and is read whole",
                     path, (intmax_t)(st.st_size >> 30));
}

static peat_status read_into(const char *path, struct arena *a, const unsigned char **byte,
                             size_t *bytes, struct error *err)
{
    char *text;
    peat_status status = check_size(path, err);
    if (status == PEAT_OK)
        status = file_read(path, 0, &text, bytes, err);
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

/* Records the hash of a file that was read, or compares it with the one recorded before. */
static peat_status settle(struct data_files *f, const char *path, const unsigned char *byte,
                          size_t bytes, bool keep, struct error *err)
{
    char hex[HASH_HEX];
    struct data_file *d = find(f, path);
    hash_bytes(byte, bytes, hex);
    if (d && strcmp(d->hex, hex) != 0)
        return error_set(err, PEAT_INVALID,
                         "'%s' has changed since it was first read: its SHA-256 was %.8s..., and "
                         "now is %.8s...; run again when nothing writes it any more",
                         path, d->hex, hex);
    if (!d)
        d = add(f, path, hex);
    if (keep) {
        d->byte = byte;
        d->bytes = bytes;
        f->kept = bytes < f->keep_most - f->kept ? f->kept + bytes : f->keep_most;
    }
    return PEAT_OK;
}

peat_status data_read(struct data_files *f, const char *path, struct arena *a,
                      const unsigned char **byte, size_t *bytes, struct error *err)
{
    const struct data_file *d = find(f, path);
    if (d && d->byte) {
        *byte = d->byte;
        *bytes = d->bytes;
        return PEAT_OK;
    }
    bool keep = has_room_for(f, path);
    peat_status status = read_into(path, keep ? f->a : a, byte, bytes, err);
    return status == PEAT_OK ? settle(f, path, *byte, *bytes, keep, err) : status;
}

/* Without the memory for bytes that are not kept. */
static peat_status hash_alone(struct data_files *f, const char *path, struct error *err)
{
    char hex[HASH_HEX];
    peat_status status = hash_file(path, hex, err);
    if (status == PEAT_OK)
        add(f, path, hex);
    return status;
}

peat_status data_hash(struct data_files *f, const char *path, const char **hex, struct error *err)
{
    const unsigned char *byte;
    size_t bytes;
    peat_status status = PEAT_OK;
    if (find(f, path) == NULL && f->keep_most > 0)
        status = check_size(path, err);
    if (status == PEAT_OK && !find(f, path))
        status = has_room_for(f, path) ? data_read(f, path, f->a, &byte, &bytes, err)
                                       : hash_alone(f, path, err);
    if (status == PEAT_OK)
        *hex = arena_strdup(f->a, find(f, path)->hex);
    return status;
}
