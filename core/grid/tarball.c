/* SPDX-License-Identifier: MIT */
/* tarball.c: archives by libarchive, where it is installed. */
#include "tarball.h"

#ifdef PEAT_ARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

#include "base/memory.h"

struct tarball {
    struct archive *archive;
    struct strbuf bytes;
};

static peat_status failure(struct tarball *t, struct error *err)
{
    const char *why = archive_error_string(t->archive);
    return error_set(err, PEAT_IO, "cannot make the archive: %s", why ? why : "no reason given");
}

static la_ssize_t take_bytes(struct archive *archive, void *ctx, const void *bytes, size_t n)
{
    (void)archive;
    strbuf_add_bytes(ctx, bytes, n);
    return (la_ssize_t)n;
}

/* Without the time of day. */
static bool set_packing(struct archive *a, enum packing packing)
{
    if (packing == PACKED_XZ)
        return archive_write_add_filter_xz(a) == ARCHIVE_OK;
    return archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
           archive_write_set_options(a, "gzip:!timestamp,gzip:compression-level=9") == ARCHIVE_OK;
}

/* pax where a name is too long for ustar. */
static bool set_up(struct tarball *t, enum packing packing)
{
    struct archive *a = t->archive;
    return archive_write_set_format_pax_restricted(a) == ARCHIVE_OK && set_packing(a, packing) &&
           archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
           archive_write_open(a, &t->bytes, NULL, take_bytes, NULL) == ARCHIVE_OK;
}

peat_status tarball_open(struct tarball **t, enum packing packing, struct error *err)
{
    *t = mem_array(1, sizeof(**t), "archive");
    strbuf_init(&(*t)->bytes);
    (*t)->archive = archive_write_new();
    if (!(*t)->archive)
        out_of_memory("archive");
    return set_up(*t, packing) ? PEAT_OK : failure(*t, err);
}

peat_status tarball_add(struct tarball *t, const char *path, const void *bytes, size_t n,
                        struct error *err)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        out_of_memory("archive");
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)n);
    archive_entry_set_mtime(entry, 0, 0);
    bool whole = archive_write_header(t->archive, entry) == ARCHIVE_OK &&
                 archive_write_data(t->archive, bytes, n) == (la_ssize_t)n;
    archive_entry_free(entry);
    return whole ? PEAT_OK : failure(t, err);
}

peat_status tarball_finish(struct tarball *t, struct strbuf *out, struct error *err)
{
    if (archive_write_close(t->archive) != ARCHIVE_OK)
        return failure(t, err);
    strbuf_add_bytes(out, t->bytes.text, t->bytes.n);
    return PEAT_OK;
}

void tarball_close(struct tarball *t)
{
    if (!t)
        return;
    archive_write_free(t->archive);
    strbuf_release(&t->bytes);
    free(t);
}

#else

static peat_status missing(struct error *err)
{
    return error_set(err, PEAT_FAILED,
                     "this build has no libarchive, which bundles need: install it (Debian: "
                     "libarchive-dev) and build again");
}

peat_status tarball_open(struct tarball **t, enum packing packing, struct error *err)
{
    (void)packing;
    *t = NULL;
    return missing(err);
}

peat_status tarball_add(struct tarball *t, const char *path, const void *bytes, size_t n,
                        struct error *err)
{
    (void)t;
    (void)path;
    (void)bytes;
    (void)n;
    return missing(err);
}

peat_status tarball_finish(struct tarball *t, struct strbuf *out, struct error *err)
{
    (void)t;
    (void)out;
    return missing(err);
}

void tarball_close(struct tarball *t)
{
    (void)t;
}

#endif
