/* SPDX-License-Identifier: MIT */
/* tarball.c: POSIX ustar (IEEE Std 1003.1, pax) into a packer. */
#include "tarball.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "packer.h"

/* Header and content both fill whole blocks. */
enum { BLOCK = 512 };

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

static const int64_t largest = 077777777777; /* what 11 octal digits hold */

struct tarball {
    struct packer *packer;
};

/* ---- one file ---- */

/* True when it has been split between name and prefix, at a '/'. */
static bool fits(struct header *h, const char *path)
{
    size_t n = strlen(path);
    const char *cut = n > sizeof(h->name) ? strchr(path + n - sizeof(h->name) - 1, '/') : NULL;
    const char *name = cut ? cut + 1 : path;
    size_t before = cut ? (size_t)(cut - path) : 0;
    if (strlen(name) > sizeof(h->name) || before > sizeof(h->prefix))
        return false;
    memcpy(h->name, name, strlen(name));
    memcpy(h->prefix, path, before);
    return true;
}

static void finish_header(struct header *h, char type, size_t size)
{
    const unsigned char *byte = (const unsigned char *)h;
    unsigned sum = 0;
    h->type = type;
    memcpy(h->mode, "000644 ", 8);
    memcpy(h->uid, "000000 ", 8);
    memcpy(h->gid, "000000 ", 8);
    memcpy(h->mtime, "00000000000 ", 12);
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    memcpy(h->major, "000000 ", 8);
    memcpy(h->minor, "000000 ", 8);
    snprintf(h->size, sizeof(h->size), "%011" PRIo64, (uint64_t)size);
    h->size[sizeof(h->size) - 1] = ' ';
    memset(h->checksum, ' ', sizeof(h->checksum)); /* as which it counts in the sum */
    for (size_t i = 0; i < sizeof(*h); i++)
        sum += byte[i];
    snprintf(h->checksum, sizeof(h->checksum), "%06o", sum);
}

static peat_status put_file(struct tarball *t, const struct header *h, const void *bytes, size_t n,
                            struct error *err)
{
    static const char zeros[BLOCK];
    peat_status status = packer_add(t->packer, h, sizeof(*h), err);
    if (status == PEAT_OK)
        status = packer_add(t->packer, bytes, n, err);
    return status == PEAT_OK ? packer_add(t->packer, zeros, (BLOCK - n % BLOCK) % BLOCK, err)
                             : status;
}

/* pax: a path that no header can hold stands in a file of its own before it. The record's length
 * counts its own digits. */
static peat_status put_long_name(struct tarball *t, const char *path, struct error *err)
{
    struct header h = {.name = "PaxHeader"};
    struct strbuf record;
    strbuf_init(&record);
    size_t rest = strlen(" path=\n") + strlen(path), length = rest + 1;
    while (length != rest + (size_t)snprintf(NULL, 0, "%zu", length))
        length++;
    strbuf_addf(&record, "%zu path=%s\n", length, path);
    finish_header(&h, 'x', record.n);
    peat_status status = put_file(t, &h, record.text, record.n, err);
    strbuf_release(&record);
    return status;
}

/* ---- an archive ---- */

peat_status tarball_open(struct tarball **t, enum packing packing, struct error *err)
{
    struct packer *packer;
    *t = NULL;
    peat_status status = packer_open(&packer, packing, err);
    if (status != PEAT_OK)
        return status;
    *t = mem_array(1, sizeof(**t), "archive");
    (*t)->packer = packer;
    return PEAT_OK;
}

peat_status tarball_add(struct tarball *t, const char *path, const void *bytes, size_t n,
                        struct error *err)
{
    struct header h = {.name = ""};
    peat_status status = PEAT_OK;
    if ((int64_t)n > largest)
        return error_set(err, PEAT_IO, "'%s' is too large for an archive", path);
    if (!fits(&h, path)) {
        status = put_long_name(t, path, err);
        memcpy(h.name, path, sizeof(h.name));
    }
    finish_header(&h, '0', n);
    return status == PEAT_OK ? put_file(t, &h, bytes, n, err) : status;
}

peat_status tarball_finish(struct tarball *t, struct strbuf *out, struct error *err)
{
    static const char end[2 * BLOCK];
    peat_status status = packer_add(t->packer, end, sizeof(end), err);
    return status == PEAT_OK ? packer_finish(t->packer, out, err) : status;
}

void tarball_close(struct tarball *t)
{
    if (!t)
        return;
    packer_close(t->packer);
    free(t);
}
