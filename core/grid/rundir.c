/* SPDX-License-Identifier: MIT */
/* rundir.c: creates and writes a run directory, and locks it for one parent. */
#include "grid/rundir.h"

#include <sys/file.h>

#include "cell/cellfiles.h"
#include "experiment/resolved.h"
#include "grid/claimfile.h"

static const char experiment_file[] = "experiment.yaml";

/* ---- the experiment that a directory belongs to ---- */

/* True when path can be read and holds other bytes. */
static bool holds_other(const char *path, const char *bytes, size_t n)
{
    char *theirs = NULL;
    size_t n_theirs = 0;
    bool differs = file_read(path, 0, &theirs, &n_theirs, NULL) == PEAT_OK &&
                   !(bytes && n == n_theirs && memcmp(bytes, theirs, n) == 0);
    free(theirs);
    return differs;
}

static bool differs_from_file(const char *path, const struct experiment *e)
{
    char *mine = NULL;
    size_t n = 0;
    bool mine_is_read = file_read(e->path, 0, &mine, &n, NULL) == PEAT_OK;
    bool differs = holds_other(path, mine_is_read ? mine : NULL, n);
    free(mine);
    return differs;
}

/* True where the experiment was read from the directory's resolved.yaml, which replaces nothing. */
static bool is_its_own(const char *dir, const struct experiment *e)
{
    return file_is_same(path_in(dir, RESOLVED_FILE).text, e->path);
}

/* A directory without plan.json is new, but a file of the user is never overwritten. */
static peat_status check_new(const char *dir, const struct experiment *e, struct error *err)
{
    if (is_its_own(dir, e) || !differs_from_file(path_in(dir, experiment_file).text, e))
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' is not a run directory, and its experiment.yaml would be replaced; "
                     "choose another directory with -o",
                     dir);
}

static peat_status check_name(const char *dir, const struct value *plan, const struct experiment *e,
                              struct error *err)
{
    if (json_text_is(plan, "experiment", e->name))
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' belongs to experiment '%s', not to '%s'; choose another directory "
                     "with -o",
                     dir, json_text_or(plan, "experiment", ""), e->name);
}

peat_status rundir_check(const char *dir, const struct plan *p, struct error *err)
{
    struct arena a;
    struct error why = {0};
    struct value *plan = NULL;
    arena_init(&a, "check", 1 << 16);
    peat_status status = plan_read(dir, &plan, &a, &why);
    if (status == PEAT_NOTFOUND)
        status = check_new(dir, p->experiment, err);
    else if (status == PEAT_OK)
        status = check_name(dir, plan, p->experiment, err);
    else if (status == PEAT_CORRUPT)
        error_set(err, status, "%s; remove the file and run again, it is then written anew",
                  why.text);
    else
        error_set(err, status, "%s", why.text);
    arena_release(&a);
    return status;
}

/* ---- the lock ---- */

static peat_status held_by_another(const char *dir, struct error *err)
{
    struct arena a;
    struct value *owner = NULL;
    arena_init(&a, "lock", 1 << 12);
    peat_status status;
    if (json_read_file(dir, "lock", &a, &owner, NULL) == PEAT_OK && json_get_text(owner, "host"))
        status =
            error_set(err, PEAT_INVALID,
                      "%s is being run by process %" PRId64 " on host %s; wait for it or stop it",
                      dir, json_get_int(owner, "pid", 0), json_get_text(owner, "host"));
    else
        status = error_set(err, PEAT_INVALID,
                           "%s is being run by another process; wait for it or stop it", dir);
    arena_release(&a);
    return status;
}

/* Writes who holds the lock, for messages of other processes. The file is written in place, because
 * the file is the lock. */
static peat_status sign_lock(int fd, struct error *err)
{
    struct arena a;
    arena_init(&a, "lock", 1 << 12);
    const char *text = arena_printf(&a, "%s\n", json_to_text(process_named(&a).v, JSON_LINE, &a));
    peat_status status = ftruncate(fd, 0) == 0
                             ? fd_write(fd, text, strlen(text), err)
                             : error_set(err, PEAT_IO, "cannot write: %s", strerror(errno));
    arena_release(&a);
    return status;
}

static peat_status lock_file(const char *dir, const char *path, int *fd, struct error *err)
{
    peat_status status = file_open(path, O_RDWR | O_CREAT, FILE_OWN, fd, err);
    if (status != PEAT_OK)
        return status;
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
        status = sign_lock(*fd, err);
        if (status != PEAT_OK)
            error_prefix(err, "'%s'", path);
    } else if (errno == EWOULDBLOCK) {
        status = held_by_another(dir, err);
    } else {
        status = error_set(err, PEAT_IO, "cannot lock '%s': %s", path, strerror(errno));
    }
    if (status != PEAT_OK)
        close(*fd);
    return status;
}

peat_status rundir_lock(const char *dir, int *fd, struct error *err)
{
    peat_status status = dir_make(dir, err);
    if (status != PEAT_OK)
        return status;
    status = lock_file(dir, path_in(dir, "lock").text, fd, err);
    if (status == PEAT_OK)
        dir_tidy(dir);
    return status;
}

/* ---- the files that a plan was made from ---- */

enum source rundir_source(const char *dir, const struct value *plan, const char *name)
{
    char hex[HASH_HEX];
    const struct file_path path = path_in(dir, name);
    const char *planned = json_get_text(value_get(plan, "files"), name);
    struct stat st;
    bool is_huge = planned && stat(path.text, &st) == 0 && st.st_size > RUN_FILE_MOST;
    peat_status status = planned && !is_huge ? hash_file(path.text, hex, NULL) : PEAT_OK;
    if (!planned)
        return SOURCE_UNKNOWN;
    if (status == PEAT_NOTFOUND)
        return SOURCE_MISSING;
    return status == PEAT_OK && !is_huge && strcmp(planned, hex) == 0 ? SOURCE_SAME : SOURCE_OTHER;
}

peat_status rundir_check_sources(const char *dir, struct error *err)
{
    struct arena a;
    struct value *plan = NULL;
    arena_init(&a, "check", 1 << 16);
    bool is_known = plan_read(dir, &plan, &a, NULL) == PEAT_OK;
    peat_status status = PEAT_OK;
    if (is_known && rundir_source(dir, plan, RESOLVED_FILE) == SOURCE_OTHER)
        status =
            error_set(err, PEAT_CORRUPT,
                      "'%s/%s' was changed since `peat run` wrote it; `peat run EXP.yaml -o %s` "
                      "writes it anew, and a changed copy runs from outside of '%s'",
                      dir, RESOLVED_FILE, dir, dir);
    else if (is_known && rundir_source(dir, plan, experiment_file) == SOURCE_OTHER)
        status =
            error_set(err, PEAT_INVALID,
                      "'%s/%s' was changed since it was run; to run the changed one, copy it to "
                      "where the first one was, so that its paths hold, and run that with -o %s",
                      dir, experiment_file, dir);
    arena_release(&a);
    return status;
}

/* ---- writing ---- */

/* The YAML files beside plan.json. */
struct sources {
    char *written; /* content of experiment.yaml; NULL: not written */
    size_t n_written;
    bool kept;              /* the existing file is kept              */
    struct strbuf resolved; /* content of resolved.yaml; empty: not written */
};

/* A verbatim copy. It is not kept for an experiment that came from a pipe, which cannot be read
 * again, or from a run's resolved.yaml, which nobody wrote by hand. An experiment without a file
 * has nothing to copy. */
static peat_status read_sources(const char *dir, const struct plan *p, struct sources *s,
                                struct error *err)
{
    const struct experiment *e = p->experiment;
    struct stat st;
    bool is_file = stat(e->path, &st) == 0 && S_ISREG(st.st_mode);
    const struct file_path path = path_in(dir, experiment_file);
    *s = (struct sources){.kept = file_exists(path.text) && (e->made_with || !is_file)};
    strbuf_init(&s->resolved);
    if (e->root)
        resolved_text(p, &s->resolved);
    return s->kept || is_file
               ? file_read(s->kept ? path.text : e->path, 0, &s->written, &s->n_written, err)
               : PEAT_OK;
}

static void free_sources(struct sources *s)
{
    free(s->written);
    strbuf_release(&s->resolved);
}

static void put_sources(struct json plan, const struct sources *s)
{
    char hex[HASH_HEX];
    struct json files = json_put_map(plan, "files");
    if (s->written) {
        hash_bytes(s->written, s->n_written, hex);
        json_put_text(files, experiment_file, hex);
    }
    if (s->resolved.n) {
        hash_bytes(s->resolved.text, s->resolved.n, hex);
        json_put_text(files, RESOLVED_FILE, hex);
    }
}

static void put_claims(struct json plan, const struct experiment *e)
{
    char hex[HASH_HEX];
    if (!e->claims || e->claims->n == 0)
        return;
    json_hash(e->claims, hex);
    json_put_text(plan, "claims_sha256", hex);
}

static peat_status write_sources(const char *dir, const struct sources *s, struct error *err)
{
    const struct file_path path = path_in(dir, experiment_file);
    const struct file_path resolved = path_in(dir, RESOLVED_FILE);
    peat_status status = PEAT_OK;
    if (s->written && !s->kept &&
        (!file_exists(path.text) || holds_other(path.text, s->written, s->n_written)))
        status = file_write_own(path.text, s->written, s->n_written, err);
    if (status == PEAT_OK && s->resolved.n)
        status = file_write_own(resolved.text, s->resolved.text, s->resolved.n, err);
    return status;
}

/* plan.json is written first: it makes the directory this experiment's. */
static peat_status write_plan(const char *dir, const struct plan *p, struct arena *a,
                              struct error *err)
{
    struct sources s;
    struct json plan = {a, plan_value(p, a)};
    peat_status status = read_sources(dir, p, &s, err);
    put_sources(plan, &s);
    put_claims(plan, p->experiment);
    if (status == PEAT_OK)
        status = json_write_file(dir, "plan.json", plan.v, err);
    if (status == PEAT_OK)
        status = write_sources(dir, &s, err);
    free_sources(&s);
    return status;
}

static peat_status write_cell(const char *dir, const struct plan *p, const struct plan_cell *c,
                              struct arena *a, struct error *err)
{
    const char *cell = arena_printf(a, "%s/cells/%s", dir, c->id);
    peat_status status = dir_make(cell, err);
    dir_tidy(cell);
    return status == PEAT_OK ? json_write_file(cell, "config.json", plan_cell_value(p, c, a), err)
                             : status;
}

peat_status rundir_write(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    peat_status status = rundir_check(dir, p, err);
    if (status == PEAT_OK)
        status = dir_make(dir, err);
    if (status == PEAT_OK)
        status = write_plan(dir, p, a, err);
    if (status == PEAT_OK)
        status = claims_keep(dir, p->experiment, a, err);
    for (int i = 0; i < p->n && status == PEAT_OK; i++) {
        struct arena_mark mark = arena_mark(a);
        status = write_cell(dir, p, &p->cell[i], a, err);
        arena_rewind(a, mark);
    }
    return status;
}
