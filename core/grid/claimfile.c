/* SPDX-License-Identifier: MIT */
/* claimfile.c: claims.json of a run directory. */
#include "grid/claimfile.h"

#define FORMAT 1

static const char file_name[] = "claims.json";

static peat_status damaged(const char *dir, const char *why, struct error *err)
{
    return error_set(err, PEAT_CORRUPT, "'%s/%s' is damaged: %s", dir, file_name, why);
}

static peat_status read_version(const char *dir, const struct value *v, struct claims_version *out,
                                struct error *err)
{
    char hex[HASH_HEX];
    *out = (struct claims_version){json_get_text(v, "sha256"), json_get_text(v, "written_utc"),
                                   (int)json_get_int(v, "results", -1), value_get(v, "claims")};
    if (!out->hash || !out->written_utc || out->results < 0 || !out->claims ||
        out->claims->kind != VALUE_LIST)
        return damaged(dir, "a version of the claims is incomplete", err);
    json_hash(out->claims, hex);
    return strcmp(hex, out->hash) == 0 ? PEAT_OK
                                       : damaged(dir, "the claims do not match their hash", err);
}

peat_status claims_kept_read(const char *dir, struct claims_kept *kept, struct arena *a,
                             struct error *err)
{
    struct value *v = NULL;
    struct error why = {0};
    *kept = (struct claims_kept){0};
    peat_status status = json_read_file(dir, file_name, a, &v, &why);
    if (status == PEAT_NOTFOUND)
        return PEAT_OK;
    if (status != PEAT_OK)
        return error_set(err, status, "%s", why.text);
    kept->n = json_get_count(v, "versions");
    kept->version = ARENA_ARRAY(a, kept->n, struct claims_version);
    for (int i = 0; status == PEAT_OK && i < kept->n; i++)
        status = read_version(dir, json_get_item(v, "versions", i), &kept->version[i], err);
    return status;
}

static int count_results(const char *dir, struct arena *a)
{
    const struct file_path cells = path_in(dir, "cells");
    char **name;
    int n, results = 0;
    dir_list(cells.text, &name, &n, NULL);
    for (int i = 0; i < n; i++)
        results += dir_has(cells.text, arena_printf(a, "%s/result.json", name[i]));
    names_free(name, n);
    return results;
}

static void put_version(struct json versions, const struct claims_version *v)
{
    struct json m = json_add_map(versions);
    json_put_text(m, "sha256", v->hash);
    json_put_text(m, "written_utc", v->written_utc);
    json_put_int(m, "results", v->results);
    json_put(m, "claims", v->claims);
}

static peat_status write_versions(const char *dir, const struct claims_kept *kept,
                                  const struct claims_version *last, struct arena *a,
                                  struct error *err)
{
    struct json m = json_map(a);
    json_put_int(m, "format", FORMAT);
    struct json versions = json_put_list(m, "versions");
    for (int i = 0; i < kept->n; i++)
        put_version(versions, &kept->version[i]);
    put_version(versions, last);
    return json_write_file(dir, file_name, m.v, err);
}

peat_status claims_keep(const char *dir, const struct experiment *e, struct arena *a,
                        struct error *err)
{
    struct claims_kept kept;
    char hex[HASH_HEX], utc[32];
    const struct value *claims = e->claims ? e->claims : value_list(a, NOWHERE);
    peat_status status = claims_kept_read(dir, &kept, a, err);
    json_hash(claims, hex);
    bool first = kept.n == 0, same = !first && strcmp(kept.version[kept.n - 1].hash, hex) == 0;
    if (status != PEAT_OK || same || (first && claims->n == 0))
        return status;
    clock_utc(utc, sizeof(utc));
    const struct claims_version last = {hex, utc, count_results(dir, a), claims};
    return write_versions(dir, &kept, &last, a, err);
}
