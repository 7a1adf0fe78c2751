/* SPDX-License-Identifier: MIT */
/* bundle.c: what of a run directory goes into a bundle. */
#include "grid/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "experiment/resolved.h"
#include "grid/verify.h"
#include "tarball.h"

static const struct field bundle_fields[] = {
    {"experiment", FIELD_TEXT | FIELD_NEEDED}, {"weights", FIELD_BOOL | FIELD_NEEDED},
    {"hash", FIELD_TEXT | FIELD_NULL},         {"cells", FIELD_INT},
    {"environment", FIELD_MAP, FIELD_LIST},    {NULL},
};
const struct record bundle_record = {"bundle.json", "format", 1, false, bundle_fields};

struct bundling {
    const struct rundir *r;
    const char *name; /* of the folder in it */
    struct tarball *tarball;
    struct arena *a;
    struct error *err;
};

/* ---- files ---- */

static peat_status add_bytes(struct bundling *b, const char *path, const void *bytes, size_t n)
{
    return tarball_add(b->tarball, arena_printf(b->a, "%s/%s", b->name, path), bytes, n, b->err);
}

/* Of the directory; what is not there is left out. */
static peat_status add_file(struct bundling *b, const char *path)
{
    struct error why = {0};
    char *from = path_join(b->r->path, path), *bytes = NULL;
    size_t n = 0;
    peat_status status = file_read(from, 0, &bytes, &n, &why);
    if (status == PEAT_OK)
        status = add_bytes(b, path, bytes, n);
    else if (status == PEAT_NOTFOUND)
        status = PEAT_OK;
    else
        error_set(b->err, status, "%s", why.text);
    free(bytes);
    free(from);
    return status;
}

static peat_status add_files(struct bundling *b, const char *in, const char *const *name)
{
    peat_status status = PEAT_OK;
    for (; *name && status == PEAT_OK; name++)
        status = add_file(b, arena_printf(b->a, "%s%s", in, *name));
    return status;
}

/* What the result is sealed with and lies below ckpt/, and the state beside it. */
static peat_status add_weights(struct bundling *b, const struct cell_files *c)
{
    const struct value *files = value_get(c->result, "files");
    peat_status status = PEAT_OK;
    for (int i = 0; files && i < files->n && status == PEAT_OK; i++) {
        const char *slash = strrchr(files->key[i], '/');
        if (!slash || strncmp(files->key[i], "ckpt/", 5) != 0 || strstr(files->key[i], ".."))
            continue;
        status = add_file(b, arena_printf(b->a, "cells/%s/%s", c->id, files->key[i]));
        if (status == PEAT_OK)
            status = add_file(b, arena_printf(b->a, "cells/%s/%.*s/state.json", c->id,
                                              (int)(slash - files->key[i]), files->key[i]));
    }
    return status;
}

static peat_status add_cell(struct bundling *b, const struct cell_files *c, bool weights)
{
    static const char *const names[] = {"config.json",   "diagnose.json", "end.json",   "meta.json",
                                        "metrics.jsonl", "result.json",   "stale.json", NULL};
    peat_status status = add_files(b, arena_printf(b->a, "cells/%s/", c->id), names);
    return status == PEAT_OK && weights ? add_weights(b, c) : status;
}

/* ---- bundle.json ---- */

static void add_once(struct json list, const struct value *v)
{
    for (int i = 0; i < list.v->n; i++)
        if (value_equal(list.v->item[i], v))
            return;
    json_add(list, v);
}

/* What the cells were made with, each once. */
static void put_environment(struct json m, const struct rundir *r)
{
    static const char *const key[] = {"engine", "abi",  "compiler",  "build",     "cpu", "gemm",
                                      "blas",   "libm", "blas_core", "precision", NULL};
    for (int k = 0; key[k]; k++) {
        struct json list = json_put_list(m, key[k]);
        for (int i = 0; i < r->n; i++) {
            const struct value *v = value_get(r->cell[i].meta, key[k]);
            if (r->cell[i].planned && v)
                add_once(list, v);
        }
    }
}

static peat_status add_about(struct bundling *b, int cells, bool weights)
{
    struct json m = json_map(b->a);
    struct strbuf text;
    char hex[HASH_HEX];
    json_put_int(m, "format", bundle_record.format);
    json_put_text(m, "experiment", b->name);
    json_put_bool(m, "weights", weights);
    json_put_text(m, "hash", fingerprint_of(b->r, hex) ? hex : NULL);
    json_put_int(m, "cells", cells);
    put_environment(json_put_map(m, "environment"), b->r);
    strbuf_init(&text);
    json_print(sealed(b->a, m.v), JSON_INDENTED, &text);
    strbuf_add(&text, "\n");
    peat_status status = add_bytes(b, bundle_record.name, text.text, text.n);
    strbuf_release(&text);
    return status;
}

/* ---- all of it ---- */

static int compare_ids(const void *a, const void *b)
{
    const struct cell_files *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

static peat_status check_whole(const struct rundir *r, struct error *err)
{
    for (int i = 0; i < r->n; i++)
        if (r->cell[i].planned && r->cell[i].damage)
            return error_set(err, PEAT_CORRUPT, "%s: `peat verify %s` has all of it",
                             r->cell[i].damage, r->path);
    return PEAT_OK;
}

static peat_status add_all(struct bundling *b, bool weights)
{
    static const char *const names[] = {"claims.json", "experiment.yaml", "plan.json",
                                        RESOLVED_FILE, NULL};
    const struct cell_files **cell = ARENA_ARRAY(b->a, b->r->n + 1, const struct cell_files *);
    int n = 0;
    for (int i = 0; i < b->r->n; i++)
        if (b->r->cell[i].planned && b->r->cell[i].config)
            cell[n++] = &b->r->cell[i];
    qsort(cell, (size_t)n, sizeof(*cell), compare_ids);
    peat_status status = add_about(b, n, weights);
    if (status == PEAT_OK)
        status = add_files(b, "", names);
    for (int i = 0; i < n && status == PEAT_OK; i++)
        status = add_cell(b, cell[i], weights);
    return status;
}

peat_status bundle_make(const struct rundir *r, enum packing packing, bool weights,
                        struct strbuf *out, struct arena *a, struct error *err)
{
    struct bundling b = {r, json_get_text(r->plan, "experiment"), NULL, a, err};
    peat_status status = check_whole(r, err);
    if (status == PEAT_OK)
        status = tarball_open(&b.tarball, packing, out, a, err);
    if (status == PEAT_OK)
        status = add_all(&b, weights);
    if (status == PEAT_OK)
        status = tarball_finish(b.tarball, err);
    tarball_close(b.tarball);
    return status;
}

bool bundle_lacks_weights(const char *dir, struct arena *a)
{
    struct value *about = NULL;
    return record_read(dir, &bundle_record, a, &about, NULL) == PEAT_OK &&
           !json_get_bool(about, "weights");
}
