/* SPDX-License-Identifier: MIT */
/* bundle.c: lists the files of a run directory for a bundle, and runs tar, which makes it. */
#include "grid/bundle.h"

#include "cell/thin.h"
#include "experiment/resolved.h"
#include "process/child.h"
#include "train/generation.h"

static const struct field bundle_fields[] = {
    {"experiment", FIELD_TEXT | FIELD_NEEDED}, {"weights", FIELD_BOOL | FIELD_NEEDED},
    {"hash", FIELD_TEXT | FIELD_NULL},         {"cells", FIELD_INT},
    {"environment", FIELD_MAP, FIELD_LIST},    {NULL},
};
const struct record bundle_record = {"bundle.json", "format", 1, false, bundle_fields};

struct bundling {
    const struct rundir *r;
    const char *name; /* name of the folder in the bundle */
    bool weights;
    bool curves; /* whole ones */
    enum packing packing;
    int cells;             /* their number */
    struct strbuf files;   /* their paths in the directory, each ended by a 0 */
    struct strbuf thinned; /* paths of thinned curves and their seals, in scratch */
    const char *scratch;   /* a folder for these, both lists and bundle.json */
    struct arena *a;
    struct error *err;
};

/* ---- files ---- */

/* Checks the first n bytes of path: the file, or a folder above it. */
static bool look(const struct bundling *b, const char *path, int n, bool *there)
{
    const char *part = arena_printf(b->a, "%s/%.*s", b->r->path, n, path);
    bool is_file = path[n] == '\0';
    struct stat st;
    *there = lstat(part, &st) == 0;
    if (!*there)
        return errno == ENOENT ||
               error_fail(b->err, PEAT_IO, "cannot read '%s': %s", part, strerror(errno));
    if (is_file ? !S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode))
        return error_fail(b->err, PEAT_INVALID,
                          "'%s' is not a %s: links and special files are not bundled", part,
                          is_file ? "regular file" : "folder");
    return !is_file || st.st_size <= RUN_FILE_MOST || path_ends_in(path, GENERATION_MODEL) ||
           error_fail(b->err, PEAT_INVALID, "'%s' has %" PRId64 " bytes, the limit is %d", part,
                      (int64_t)st.st_size, RUN_FILE_MOST);
}

/* Adds the files that are there to the list. */
static bool add_files(struct bundling *b, struct strbuf *list, const char *in,
                      const char *const *name)
{
    bool ok = true;
    for (; *name && ok; name++) {
        bool there = true;
        const char *path = arena_printf(b->a, "%s%s", in, *name);
        for (const char *end = path; *end && there && ok;) {
            end += 1 + strcspn(end + 1, "/");
            ok = look(b, path, (int)(end - path), &there);
        }
        if (there && ok)
            strbuf_add_bytes(list, path, strlen(path) + 1);
    }
    return ok;
}

static bool write_thinned(struct bundling *b, const struct cell_files *c, const struct strbuf *thin)
{
    const char *dir = arena_printf(b->a, "%s/cells/%s", b->scratch, c->id);
    const struct value *seal = cell_thinned_seal(c->result, thin, b->a);
    strbuf_addf(&b->thinned, "cells/%s/%s", c->id, thinned_record.name);
    strbuf_add_bytes(&b->thinned, "", 1);
    return dir_make(dir, b->err) == PEAT_OK &&
           file_write(path_in(dir, "metrics.jsonl").text, thin->text, thin->n, b->err) == PEAT_OK &&
           json_write_file(dir, thinned_record.name, seal, b->err) == PEAT_OK;
}

/* The curve stays whole where nothing is left out of it, and where it has no seal: of a cell that
 * has not finished, and of results of format 1. */
static bool add_curve(struct bundling *b, const struct cell_files *c)
{
    static const char *const name[] = {"metrics.jsonl", NULL};
    const char *in = arena_printf(b->a, "cells/%s/", c->id);
    int64_t bytes = json_get_int(cell_curve_seal(c->result), "bytes", 0);
    if (b->curves && cell_thinned(c->dir, c->result, b->a))
        return error_fail(
            b->err, PEAT_INVALID,
            "the curve of %s is thinned: the bundle that it was unpacked from was made "
            "without --curves",
            c->label);
    struct strbuf thin = STRBUF_NEW;
    bool ok = b->curves || bytes == 0 || curve_thin(c->dir, &thin, b->a, b->err) == PEAT_OK;
    bool thins = thin.n && (int64_t)thin.n < bytes;
    ok = ok && add_files(b, thins ? &b->thinned : &b->files, in, name) &&
         (!thins || write_thinned(b, c, &thin));
    strbuf_release(&thin);
    return ok;
}

/* Adds the weights that the result is sealed with, and the state beside them. */
static bool add_weights(struct bundling *b, const struct cell_files *c)
{
    static const char *const names[] = {GENERATION_MODEL, GENERATION_STATE, NULL};
    char generation[GENERATION_NAME];
    generation_name(json_get_int(c->result, "steps", 0), generation);
    return add_files(b, &b->files, arena_printf(b->a, "cells/%s/ckpt/%s/", c->id, generation),
                     names);
}

/* Files of one name follow each other in the archive, which makes it smaller. */
static bool add_cells(struct bundling *b, const struct cell_files **cell, int n)
{
    static const char *const name[] = {
        "config.json", "meta.json", "diagnose.json", "end.json", "result.json", "stale.json", NULL};
    bool ok = true;
    for (int k = 0; name[k] && ok; k++)
        for (int i = 0; i < n && ok; i++)
            ok = add_files(b, &b->files, arena_printf(b->a, "cells/%s/", cell[i]->id),
                           (const char *const[]){name[k], NULL});
    for (int i = 0; i < n && ok; i++)
        ok = add_curve(b, cell[i]) && (!b->weights || !cell[i]->result || add_weights(b, cell[i]));
    return ok;
}

static int compare_ids(const void *a, const void *b)
{
    const struct cell_files *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

static bool list_files(struct bundling *b)
{
    static const char *const names[] = {"claims.json", EXPERIMENT_FILE, EXTENDS_FILE, "plan.json",
                                        RESOLVED_FILE, "schemes.json",  "looks.json", NULL};
    const struct cell_files **cell = ARENA_ARRAY(b->a, b->r->n + 1, const struct cell_files *);
    int n = 0;
    for (int i = 0; i < b->r->n; i++)
        if (b->r->cell[i].planned)
            cell[n++] = &b->r->cell[i];
    qsort(cell, (size_t)n, sizeof(*cell), compare_ids);
    b->cells = n;
    return add_files(b, &b->files, "", names) && add_cells(b, cell, n);
}

/* The engines and plugins of the cells, each once. */
static void put_environment(struct json m, const struct rundir *r)
{
    static const char *const key[] = {"engine", "abi",  "compiler",  "build",     "cpu", "gemm",
                                      "blas",   "libm", "blas_core", "precision", NULL};
    for (int k = 0; key[k]; k++) {
        struct json list = json_put_list(m, key[k]);
        for (int i = 0; i < r->n; i++) {
            const struct value *v = value_get(r->cell[i].meta, key[k]);
            if (r->cell[i].planned && v && !value_holds(list.v, v))
                json_add(list, v);
        }
    }
}

static peat_status write_about(struct bundling *b)
{
    struct json m = json_map(b->a);
    json_put_int(m, "format", bundle_record.format);
    json_put_text(m, "experiment", b->name);
    json_put_bool(m, "weights", b->weights);
    json_put_text(m, "hash", fingerprint_of(b->r, b->a));
    json_put_int(m, "cells", b->cells);
    put_environment(json_put_map(m, "environment"), b->r);
    return json_write_file(b->scratch, bundle_record.name, m.v, b->err);
}

/* Names that do not fit into ustar are in pax headers, which then carry no time and no process. lc
 * and pb of xz are those for text. */
static char **tar_arguments(const struct bundling *b, const char *dir)
{
    struct arena *a = b->a;
    const char *const word[] = {
        "tar",
        "--create",
        "--file=-",
        b->packing == PACKED_XZ ? "--use-compress-program=xz -T1 --lzma2=preset=6e,lc=4,pb=0"
                                : "--use-compress-program=gzip -9n",
        "--format=posix",
        arena_printf(a, "--pax-option=delete=atime,delete=ctime,exthdr.name=%s/PaxHeaders/%%f",
                     b->name),
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=0644",
        "--no-recursion",
        "--no-unquote",
        "--hard-dereference",
        arena_printf(a, "--transform=s,^,%s/,", b->name),
        arena_printf(a, "--directory=%s", b->scratch),
        bundle_record.name,
        arena_printf(a, "--directory=%s", dir),
        "--null",
        arena_printf(a, "--files-from=%s/files", b->scratch),
        arena_printf(a, "--directory=%s", b->scratch),
        arena_printf(a, "--files-from=%s/thinned", b->scratch),
    };
    enum { WORDS = sizeof(word) / sizeof(*word) };
    char **argv = ARENA_ARRAY(a, WORDS + 1, char *);
    for (int i = 0; i < WORDS; i++)
        argv[i] = arena_strdup(a, word[i]);
    return argv;
}

static peat_status run_tar(const struct bundling *b, const char *dir, struct strbuf *out)
{
    /* Only PATH is passed on, because other variables carry options of these programs. */
    const char *path = getenv("PATH");
    char *env[] = {arena_strdup(b->a, "LC_ALL=C"),
                   path ? arena_printf(b->a, "PATH=%s", path) : NULL, NULL};
    struct child tar = {.argv = tar_arguments(b, dir), .env = env, .own_group = true};
    struct strbuf said = STRBUF_NEW;
    peat_status status = child_run(&tar, out, &said, b->err);
    if (status == PEAT_NOTFOUND)
        status =
            error_set(b->err, PEAT_FAILED,
                      "tar is not installed, which bundles need (Debian: apt-get install tar)");
    strbuf_add(&said, said.n ? "" : "it says nothing");
    if (status == PEAT_OK && tar.code != 0)
        status = error_set(b->err, PEAT_FAILED, "tar cannot make the bundle: %.*s",
                           (int)strcspn(said.text, "\n"), said.text);
    strbuf_release(&said);
    return status;
}

/* ---- making the bundle ---- */

/* tar changes its folder between the two folders that it packs from. Freed by the caller; NULL: an
 * error. */
static char *whole_path(const char *path, struct error *err)
{
    char *whole = realpath(path, NULL);
    if (!whole)
        error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(errno));
    return whole;
}

static bool write_list(const struct bundling *b, const char *name, const struct strbuf *list)
{
    return file_write(path_in(b->scratch, name).text, list->text, list->n, b->err) == PEAT_OK;
}

static bool pack_in(struct bundling *b, struct strbuf *out)
{
    char *dir = whole_path(b->r->path, b->err);
    bool ok = dir && list_files(b) && write_about(b) == PEAT_OK &&
              write_list(b, "files", &b->files) && write_list(b, "thinned", &b->thinned) &&
              run_tar(b, dir, out) == PEAT_OK;
    free(dir);
    return ok;
}

/* The temporary folder is removed before a stop ends this process. */
static bool pack(struct bundling *b, struct strbuf *out)
{
    struct own_dir own;
    char *scratch = NULL;
    struct stops_held held;
    stops_hold(&held);
    if (own_dir_open(&own, "bundle", b->err) == PEAT_OK)
        scratch = whole_path(own.path, b->err);
    b->scratch = scratch;
    bool ok = scratch && pack_in(b, out);
    own_dir_close(&own);
    stops_let(&held);
    free(scratch);
    return ok;
}

peat_status bundle_make(const struct verification *v, bool curves, enum packing packing,
                        struct strbuf *out, struct error *err)
{
    struct error why = {0};
    struct bundling b = {.r = &v->dir,
                         .name = json_get_text(v->dir.plan, "experiment"),
                         .weights = !v->without_weights,
                         .curves = curves || !v->without_weights,
                         .packing = packing,
                         .a = v->arena,
                         .err = &why};
    const struct remark *first = v->problems.item;
    strbuf_init(&b.files);
    strbuf_init(&b.thinned);
    bool ok =
        !v->problems.n || error_fail(&why, PEAT_CORRUPT, "%s%s%s: `peat verify %s` has all of it",
                                     first->cell ? first->cell : "", first->cell ? ": " : "",
                                     first->text, v->dir.path);
    ok = ok && pack(&b, out);
    strbuf_release(&b.files);
    strbuf_release(&b.thinned);
    return ok ? PEAT_OK : error_set(err, why.status, "%s", why.text);
}

bool bundle_lacks_weights(const char *dir, struct arena *a)
{
    struct value *about = NULL;
    return record_read(dir, &bundle_record, a, &about, NULL) == PEAT_OK &&
           !json_get_bool(about, "weights");
}
