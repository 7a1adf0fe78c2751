/* SPDX-License-Identifier: MIT */
/* tarball.c: archives by the library behind archive/libarchive.so. */
#include "tarball.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/plugin_dirs.h"
#include "grid/archiver.h"

struct tarball {
    const struct archiver *by;
    struct archive *archive;
};

/* ---- the library ---- */

static peat_status load_archiver(const char *path, const struct archiver **by, struct arena *a,
                                 struct error *err)
{
    struct object o;
    peat_status status = object_open(&o, "archiver", path, OBJECT_UNHASHED, a, err);
    if (status != PEAT_OK)
        return status;
    *by = object_symbol(&o, ARCHIVER_SYMBOL);
    if (!*by || (*by)->size != sizeof(**by))
        return error_set(err, PEAT_INVALID, "'%s' belongs to another version of peat", path);
    return PEAT_OK;
}

static peat_status find_archiver(const struct archiver **by, struct arena *a, struct error *err)
{
    struct plugin_dirs dirs;
    peat_status status = plugin_dirs_find(&dirs, a, err);
    for (int i = 0; status == PEAT_OK && i < dirs.n; i++) {
        const char *path = arena_printf(a, "%s/archive/libarchive.so", dirs.dir[i]);
        if (file_exists(path))
            return load_archiver(path, by, a, err);
    }
    if (status == PEAT_OK)
        status = error_set(err, PEAT_FAILED,
                           "peat was built without libarchive, which bundles need: install it "
                           "(Debian: libarchive-dev) and build again");
    return status;
}

/* ---- an archive ---- */

static peat_status failure(struct tarball *t, struct error *err)
{
    const char *why = t->by->why(t->archive);
    return error_set(err, PEAT_IO, "cannot make the archive: %s", why ? why : "no reason given");
}

static ssize_t take_bytes(struct archive *archive, void *to, const void *bytes, size_t n)
{
    (void)archive;
    strbuf_add_bytes(to, bytes, n);
    return (ssize_t)n;
}

peat_status tarball_open(struct tarball **tarball, enum packing packing, struct strbuf *out,
                         struct arena *a, struct error *err)
{
    const struct archiver *by;
    *tarball = NULL;
    peat_status status = find_archiver(&by, a, err);
    if (status != PEAT_OK)
        return status;
    struct tarball *t = ARENA_NEW(a, struct tarball);
    *tarball = t;
    t->by = by;
    bool open = by->open(&t->archive, packing == PACKED_XZ, take_bytes, out);
    if (!t->archive)
        out_of_memory("archive");
    return open ? PEAT_OK : failure(t, err);
}

peat_status tarball_add(struct tarball *t, const char *path, const void *bytes, size_t n,
                        struct error *err)
{
    return t->by->add(t->archive, path, bytes, n) ? PEAT_OK : failure(t, err);
}

peat_status tarball_finish(struct tarball *t, struct error *err)
{
    return t->by->finish(t->archive) ? PEAT_OK : failure(t, err);
}

void tarball_close(struct tarball *t)
{
    if (t)
        t->by->close(t->archive);
}
