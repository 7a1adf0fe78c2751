/* SPDX-License-Identifier: MIT */
/* claimfile.c: claims.json of a run directory. */
#include "grid/claimfile.h"

static const char file_name[] = "claims.json";

static peat_status damaged(const char *dir, const char *why, struct error *err)
{
    return error_set(err, PEAT_CORRUPT, "'%s/%s' is damaged: %s", dir, file_name, why);
}

/* ---- reading ---- */

static const struct field begun_fields[] = {
    {"cells", FIELD_INT, MEMBER(struct begun, cells)},
    {"steps", FIELD_INT, MEMBER(struct begun, steps)},
    {"evaluations", FIELD_INT, MEMBER(struct begun, evaluations)},
    {"trunk_states", FIELD_INT, MEMBER(struct begun, states)},
    {NULL},
};
enum { BEGUN_FIELDS = 4 };
static const struct field plan_fields[] = {
    {"rows", FIELD_MAP, FIELD_MAP}, {"settings", FIELD_MAP}, {NULL}};
static const struct field version_fields[] = {
    {"sha256", FIELD_TEXT | FIELD_NEEDED, MEMBER(struct claims_version, hash)},
    {"written_utc", FIELD_TEXT | FIELD_NEEDED, MEMBER(struct claims_version, written_utc)},
    {"results", FIELD_INT | FIELD_NEEDED, MEMBER(struct claims_version, by_then.results)},
    {"claims", FIELD_LIST | FIELD_NEEDED},
    {"registered", FIELD_TEXT, MEMBER(struct claims_version, registered)},
    {"by_then", FIELD_MAP, 0, begun_fields},
    {"plan", FIELD_MAP, 0, plan_fields},
    {"plugins", FIELD_MAP, FIELD_TEXT},
    {NULL},
};
static const struct field fields[] = {{"versions", FIELD_LIST, FIELD_MAP, version_fields}, {NULL}};
const struct record claims_record = {file_name, "format", 1, false, fields};

/* {claims, plan, plugins}, whose hash is registered. */
static const struct value *bound(const struct value *v, struct arena *a)
{
    static const char *const keys[] = {"claims", "plan", "plugins", NULL};
    return json_part(a, v, keys).v;
}

static peat_status read_version(const char *dir, const struct value *v, struct claims_version *out,
                                struct arena *a, struct error *err)
{
    char hex[HASH_HEX], all[HASH_HEX];
    *out = (struct claims_version){.v = v, .claims = value_get(v, "claims")};
    fields_get(v, version_fields, out);
    fields_get(value_get(v, "by_then"), begun_fields, &out->by_then);
    json_hash(out->claims, hex);
    json_hash(bound(v, a), all);
    if (strcmp(hex, out->hash) != 0)
        return damaged(dir, "the claims do not match their hash", err);
    return !out->registered || strcmp(all, out->registered) == 0
               ? PEAT_OK
               : damaged(dir, "the plan does not match its hash", err);
}

peat_status claims_kept_read(const char *dir, struct claims_kept *kept, struct arena *a,
                             struct error *err)
{
    struct value *v = NULL;
    struct error why = {0};
    *kept = (struct claims_kept){0};
    peat_status status = record_read(dir, &claims_record, a, &v, &why);
    if (status == PEAT_NOTFOUND)
        return PEAT_OK;
    if (status != PEAT_OK)
        return error_set(err, status, "%s", why.text);
    kept->n = json_get_count(v, "versions");
    kept->version = ARENA_ARRAY(a, kept->n, struct claims_version);
    for (int i = 0; status == PEAT_OK && i < kept->n; i++)
        status = read_version(dir, json_get_item(v, "versions", i), &kept->version[i], a, err);
    for (int i = 0; status == PEAT_OK && i < kept->n; i++)
        kept->claims = kept->claims || kept->version[i].claims->n;
    if (status != PEAT_OK)
        *kept = (struct claims_kept){0};
    return status;
}

/* ---- which version counts ---- */

const char *claims_first(const struct claims_version *v)
{
    return v->registered ? "step" : "result";
}

static int count_older(const char *written_utc, int n, const struct rundir *r)
{
    int older = 0;
    for (int d = 0; d < n; d++)
        for (int i = 0; i < r[d].n; i++) {
            const char *started = json_get_text(r[d].cell[i].meta, "started_utc");
            older += r[d].cell[i].planned && started && strcmp(started, written_utc) < 0;
        }
    return older;
}

struct registered claims_registered_at(const struct claims_kept *kept, int i, int n,
                                       const struct rundir *r)
{
    const struct claims_version *v = &kept->version[i];
    const struct begun *b = &v->by_then;
    return (struct registered){.at = i,
                               .late = b->cells || b->steps || b->states || b->results,
                               .begun = count_older(v->written_utc, n, r)};
}

struct registered claims_registered(const struct claims_kept *kept, int n, const struct rundir *r)
{
    struct registered found = {.at = -1};
    for (int i = kept->n - 1; i >= 0; i--) {
        found = claims_registered_at(kept, i, n, r);
        if (!found.late && !found.begun)
            break;
    }
    return found;
}

/* ---- writing ---- */

peat_status claims_keep(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    struct claims_kept kept;
    char claims[HASH_HEX], all[HASH_HEX], utc[32];
    struct value *now = plan_registration(p, a);
    peat_status status = claims_kept_read(dir, &kept, a, err);
    json_hash(value_get(now, "claims"), claims);
    json_hash(now, all);
    if (status != PEAT_OK || (kept.n && same_text(kept.version[kept.n - 1].registered, all)))
        return status;
    const struct begun begun = begun_count(dir, a);
    struct json m = json_map(a), version = json_map(a);
    clock_utc(utc, sizeof(utc));
    json_put_text(version, "sha256", claims);
    json_put_text(version, "registered", all);
    json_put_text(version, "written_utc", utc);
    json_put_int(version, "results", begun.results);
    fields_put(json_put_map(version, "by_then"), begun_fields, BEGUN_FIELDS, &begun);
    for (int i = 0; i < now->n; i++)
        json_put(version, now->key[i], now->item[i]);
    json_put_int(m, "format", claims_record.format);
    struct json versions = json_put_list(m, "versions");
    for (int i = 0; i < kept.n; i++)
        json_add(versions, kept.version[i].v);
    json_add(versions, version.v);
    return json_write_file(dir, file_name, m.v, err);
}
