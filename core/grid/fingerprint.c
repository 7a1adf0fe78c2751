/* SPDX-License-Identifier: MIT */
/* fingerprint.c: one hash of a whole run directory. */

#include "grid/claimfile.h"
#include "grid/verify.h"

struct print {
    struct arena *a;
    int n, room;
    const char **line; /* "<path>  <hash>", which sorts by path */
};

static void add_hash(struct print *p, const char *path, const char *hex)
{
    if (hex)
        *ARENA_APPEND(p->a, p->line, p->n, p->room) = arena_printf(p->a, "%s  %s", path, hex);
}

static void add_json(struct print *p, const char *path, const struct value *v)
{
    char hex[HASH_HEX];
    json_hash(v, hex);
    add_hash(p, path, hex);
}

static void add_file(struct print *p, const char *path, const char *file)
{
    char hex[HASH_HEX];
    if (hash_file(file, hex, NULL) == PEAT_OK)
        add_hash(p, path, hex);
}

/* plan.json or result.json without timings and without hashes of files that contain a time or, like
 * resolved.yaml, a path. */
static struct value *lasting_part(const struct value *map, struct arena *a)
{
    static const char *const hashes[] = {"files", "meta_hash", NULL};
    struct json rest = json_map(a);
    for (int i = 0; i < map->n; i++)
        if (!quantity_is_timed(map->key[i]) && names_find(hashes, map->key[i]) < 0)
            json_put(rest, map->key[i], map->item[i]);
    return rest.v;
}

/* Engine, plugins and data, without paths and the machine. */
static struct value *meta_part(const struct value *meta, struct arena *a)
{
    static const char *const kept[] = {"engine",    "arithmetic", "abi",
                                       "precision", "trained_by", NULL};
    static const char *const of_plugin[] = {"kind", "id", "version", NULL};
    static const char *const of_data[] = {"sha256", NULL};
    const struct value *v;
    struct json part = json_part(a, meta, kept);
    struct json plugins = json_put_list(part, "plugins"), data = json_put_list(part, "data");
    for (int i = 0; (v = json_get_item(meta, "plugins", i)); i++)
        json_add(plugins, json_part(a, v, of_plugin).v);
    for (int i = 0; (v = json_get_item(meta, "data", i)); i++)
        json_add(data, json_part(a, v, of_data).v);
    return part.v;
}

/* The claims and the plan, and whether they were made before the first step, without times. */
static struct value *claims_part(const struct claims_kept *kept, struct arena *a)
{
    struct json list = json_list(a);
    for (int i = 0; i < kept->n; i++) {
        struct json version = json_add_map(list);
        const struct begun *b = &kept->version[i].by_then;
        const struct value *plan = value_get(kept->version[i].v, "plan");
        json_put(version, "claims", kept->version[i].claims);
        if (plan)
            json_put(version, "plan", plan);
        json_put_bool(version, "in_advance", b->results + b->steps + b->states == 0);
    }
    return list.v;
}

/* False: the claims are damaged. */
static bool add_claims(struct print *p, const char *dir)
{
    struct claims_kept kept;
    if (claims_kept_read(dir, &kept, p->a, NULL) != PEAT_OK)
        return false;
    if (kept.n)
        add_json(p, "claims.json", claims_part(&kept, p->a));
    return true;
}

static const char *in_cell(const struct cell_files *c, const char *name, struct arena *a)
{
    return arena_printf(a, "cells/%s/%s", c->id, name);
}

static void fingerprint_add_cell(struct print *p, const struct cell_files *c)
{
    struct arena *a = p->a;
    const struct value *files = value_get(c->result, "files");
    add_json(p, in_cell(c, "config.json", a), cell_files_without_paths(c->config, c->meta, a));
    if (c->meta)
        add_json(p, in_cell(c, "meta.json", a), meta_part(c->meta, a));
    add_json(p, in_cell(c, "result.json", a), lasting_part(c->result, a));
    for (int i = 0; files && i < files->n; i++)
        add_hash(p, in_cell(c, files->key[i], a), json_get_text(files->item[i], "sha256"));
    if (!files)
        add_file(p, in_cell(c, "metrics.jsonl", a), arena_printf(a, "%s/metrics.jsonl", c->dir));
}

/* A state that keeps the cell out of all means: without a line, the table could change under one
 * hash. No other state has one, so that hashes stay as they were. */
static void add_state(struct print *p, const struct cell_files *c)
{
    if (c->state == CELL_STALE || c->state == CELL_DECIDED || cell_has_failed(c->state))
        add_json(p, in_cell(c, "state", p->a),
                 value_text(p->a, NOWHERE, cell_state_name(c->state)));
}

/* Hashes the list of lines in the format of sha256sum. */
static const char *hash_lines(struct print *p)
{
    char hex[HASH_HEX];
    struct strbuf all = STRBUF_NEW;
    if (p->n)
        qsort(p->line, (size_t)p->n, sizeof(*p->line), compare_texts);
    for (int i = 0; i < p->n; i++) {
        size_t path = strlen(p->line[i]) - (HASH_HEX - 1) - 2;
        strbuf_addf(&all, "%s  %.*s\n", p->line[i] + path + 2, (int)path, p->line[i]);
    }
    hash_bytes(all.text, all.n, hex);
    strbuf_release(&all);
    return arena_strdup(p->a, hex);
}

const char *fingerprint_of(const struct rundir *r, struct arena *a)
{
    struct print p = {.a = a};
    add_file(&p, EXPERIMENT_FILE, path_in(r->path, EXPERIMENT_FILE).text);
    if (value_get(value_get(r->plan, "files"), EXTENDS_FILE))
        add_file(&p, EXTENDS_FILE, path_in(r->path, EXTENDS_FILE).text);
    add_json(&p, "plan.json", lasting_part(r->plan, a));
    bool whole = add_claims(&p, r->path);
    for (int i = 0; i < r->n && whole; i++) {
        const struct cell_files *c = &r->cell[i];
        whole = !c->planned || c->state != CELL_DAMAGED;
        if (whole && c->planned && c->result && c->config)
            fingerprint_add_cell(&p, c);
        if (whole && c->planned)
            add_state(&p, c);
    }
    return whole ? hash_lines(&p) : NULL;
}
