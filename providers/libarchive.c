/* SPDX-License-Identifier: MIT */
/* libarchive.c: tar files by libarchive, for `peat bundle`. */
#include <archive.h>
#include <archive_entry.h>

#include <grid/archiver.h>

/* Without the time of day. */
static bool set_packing(struct archive *a, bool xz)
{
    if (xz)
        return archive_write_add_filter_xz(a) == ARCHIVE_OK;
    return archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
           archive_write_set_options(a, "gzip:!timestamp,gzip:compression-level=9") == ARCHIVE_OK;
}

/* pax where a name or a size is too long for ustar. */
static bool open_archive(struct archive **archive, bool xz, archive_write_callback *take, void *to)
{
    struct archive *a = archive_write_new();
    *archive = a;
    return a && archive_write_set_format_pax_restricted(a) == ARCHIVE_OK && set_packing(a, xz) &&
           archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
           archive_write_open(a, to, NULL, take, NULL) == ARCHIVE_OK;
}

/* A call writes 2 GiB at most. */
static bool add_content(struct archive *a, const char *bytes, size_t n)
{
    while (n > 0) {
        la_ssize_t written = archive_write_data(a, bytes, n);
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

static bool add(struct archive *a, const char *path, const void *bytes, size_t n)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return false;
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)n);
    archive_entry_set_mtime(entry, 0, 0);
    bool whole = archive_write_header(a, entry) == ARCHIVE_OK && add_content(a, bytes, n);
    archive_entry_free(entry);
    return whole;
}

static bool finish(struct archive *a)
{
    return archive_write_close(a) == ARCHIVE_OK;
}

static const char *why(struct archive *a)
{
    return archive_error_string(a);
}

static void close_archive(struct archive *a)
{
    archive_write_free(a);
}

__attribute__((visibility("default"))) const struct archiver peat_archiver = {
    .size = sizeof(peat_archiver),
    .open = open_archive,
    .add = add,
    .finish = finish,
    .why = why,
    .close = close_archive,
};
