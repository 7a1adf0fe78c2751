/* SPDX-License-Identifier: MIT */
/* rundir.c: creates and writes a run directory, and locks it for one parent. */
#include "grid/rundir.h"

#include <sys/file.h>

#include "experiment/resolved.h"
#include "grid/claimfile.h"

/* ---- the experiment that a directory belongs to ---- */

/* A directory without plan.json is new, but a file of the user is never overwritten. An experiment
 * that was read from the directory's resolved.yaml replaces nothing. */
static peat_status check_new(const char *dir, const struct experiment *e, struct error *err)
{
    char theirs[HASH_HEX], mine[HASH_HEX];
    if (file_is_same(path_in(dir, RESOLVED_FILE).text, e->path) ||
        hash_file(path_in(dir, EXPERIMENT_FILE).text, theirs, NULL) != PEAT_OK ||
        (hash_file(e->path, mine, NULL) == PEAT_OK && strcmp(mine, theirs) == 0))
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' is not a run directory, and its experiment.yaml would be replaced; "
                     "choose another directory with -o",
                     dir);
}

peat_status rundir_check(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    struct error why = {0};
    struct value *plan = NULL;
    peat_status status = plan_read(dir, &plan, a, &why);
    if (status == PEAT_NOTFOUND)
        return check_new(dir, p->experiment, err);
    if (status == PEAT_OK && json_text_is(plan, "experiment", p->experiment->name))
        return PEAT_OK;
    if (status == PEAT_OK)
        return error_set(err, PEAT_INVALID,
                         "'%s' belongs to experiment '%s', not to '%s'; choose another directory "
                         "with -o",
                         dir, json_text_or(plan, "experiment", ""), p->experiment->name);
    return error_set(
        err, status, "%s%s", why.text,
        status == PEAT_CORRUPT ? "; remove the file and run again, it is then written anew" : "");
}

/* ---- cells whose labels have changed ---- */

static bool is_among(const char *text, const char *const *sorted, int n)
{
    return n > 0 && bsearch(&text, sorted, (size_t)n, sizeof(*sorted), compare_texts);
}

/* Directories that do not have the name of a cell of the plan; *n of them. */
static const char **list_leftovers(const struct plan *p, char *const *name, int n_name, int *n,
                                   struct arena *a)
{
    const char **id = ARENA_ARRAY(a, p->n + 1, const char *);
    const char **left = ARENA_ARRAY(a, n_name + 1, const char *);
    for (int i = 0; i < p->n; i++)
        id[i] = p->cell[i].id;
    qsort(id, (size_t)p->n, sizeof(*id), compare_texts);
    *n = 0;
    for (int i = 0; i < n_name; i++)
        if (!is_among(name[i], id, p->n))
            left[(*n)++] = arena_strdup(a, name[i]);
    return left;
}

/* Compares the start of the hash in its name, then the whole hash. */
static bool is_cell(const char *cells, const char *name, const struct plan_cell *c, struct arena *a)
{
    const char *dash = strrchr(name, '-');
    struct value *config = NULL;
    if (!dash || strcmp(dash, strrchr(c->id, '-')) != 0)
        return false;
    struct arena_mark mark = arena_mark(a);
    bool same =
        json_read_file(path_in(cells, name).text, "config.json", a, &config, NULL) == PEAT_OK &&
        json_text_is(config, "hash", c->config.hash);
    arena_rewind(a, mark);
    return same;
}

static void adopt_one(const char *cells, const char **left, int n, struct plan_cell *c,
                      struct arena *a)
{
    for (int i = 0; i < n; i++)
        if (left[i] && is_cell(cells, left[i], c, a)) {
            c->id = left[i];
            left[i] = NULL;
            return;
        }
}

/* Whether the directory's plan calls a cell otherwise than the plan p does. */
static bool has_other_labels(const char *dir, const struct plan *p, struct arena *a)
{
    struct value *plan = NULL;
    struct text_index ids = {0};
    bool other = false;
    for (int i = 0; i < p->n; i++)
        text_index_add(&ids, a, p->cell[i].id, i);
    plan_read(dir, &plan, a, NULL);
    const struct value *one;
    for (int k = 0; !other && (one = json_get_item(plan, "cells", k)); k++) {
        int i = text_index_find(&ids, json_text_or(one, "id", ""));
        other = i >= 0 && json_text_is(one, "label", p->cell[i].name) &&
                strcmp(p->cell[i].name, p->cell[i].label) != 0;
    }
    return other;
}

void rundir_adopt(const char *dir, struct plan *p, struct arena *a)
{
    const struct file_path cells = path_in(dir, "cells");
    char **name;
    int n_name, n;
    if (has_other_labels(dir, p, a))
        for (int i = 0; i < p->n; i++)
            p->cell[i].label = p->cell[i].name;
    if (dir_list(cells.text, &name, &n_name, NULL) == PEAT_OK) {
        const char **left = list_leftovers(p, name, n_name, &n, a);
        for (int i = 0; n > 0 && i < p->n; i++)
            if (!is_among(p->cell[i].id, (const char *const *)name, n_name))
                adopt_one(cells.text, left, n, &p->cell[i], a);
        plan_name_trunks(p, a);
        names_free(name, n_name);
    }
}

/* ---- the lock ---- */

/* Writes who holds the lock, for messages of other processes. The file is written in place, because
 * the file is the lock. */
static peat_status sign_lock(int fd, struct arena *a, struct error *err)
{
    const char *text = arena_printf(a, "%s\n", json_to_text(process_named(a).v, JSON_LINE, a));
    return ftruncate(fd, 0) == 0 ? fd_write(fd, text, strlen(text), err)
                                 : error_set(err, PEAT_IO, "cannot write: %s", strerror(errno));
}

peat_status rundir_lock(const char *dir, int *fd, struct arena *a, struct error *err)
{
    const struct file_path path = path_in(dir, "lock");
    peat_status status = dir_make(dir, err);
    if (status == PEAT_OK)
        status = file_open(path.text, O_RDWR | O_CREAT, FILE_OWN, fd, err);
    if (status != PEAT_OK)
        return status;
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
        status = sign_lock(*fd, a, err);
        if (status != PEAT_OK)
            error_prefix(err, "'%s'", path.text);
    } else if (errno == EWOULDBLOCK) {
        status = error_set(err, PEAT_INVALID, "%s is being run by %s; wait for it or stop it", dir,
                           process_in(dir, "lock", a));
    } else {
        status = error_set(err, PEAT_IO, "cannot lock '%s': %s", path.text, strerror(errno));
    }
    if (status != PEAT_OK)
        close(*fd);
    else
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

peat_status rundir_check_sources(const char *dir, struct arena *a, struct error *err)
{
    struct value *plan = NULL;
    if (plan_read(dir, &plan, a, NULL) != PEAT_OK)
        return PEAT_OK;
    if (rundir_source(dir, plan, RESOLVED_FILE) == SOURCE_OTHER)
        return error_set(err, PEAT_CORRUPT,
                         "'%s/%s' was changed since `peat run` wrote it; `peat run EXP.yaml -o %s` "
                         "writes it anew, and a changed copy runs from outside of '%s'",
                         dir, RESOLVED_FILE, dir, dir);
    static const char *const written[] = {EXPERIMENT_FILE, EXTENDS_FILE};
    for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
        if (rundir_source(dir, plan, written[i]) == SOURCE_OTHER)
            return error_set(
                err, PEAT_INVALID,
                "'%s/%s' was changed since it was run; to run the changed one, copy it to "
                "where the first one was, so that its paths hold, and run that with -o %s",
                dir, written[i], dir);
    return PEAT_OK;
}

/* ---- writing ---- */

/* A file that somebody wrote, in the directory. */
struct written_file {
    const char *name;
    char *text; /* NULL: not written */
    size_t n;
    bool kept; /* the existing file is kept */
};

/* The YAML files beside plan.json. */
struct sources {
    struct written_file experiment, extends;
    struct strbuf resolved; /* content of resolved.yaml; empty: not written */
};

/* A verbatim copy of `from`. It is not kept for an experiment that came from a pipe, which cannot
 * be read again, or from a run's resolved.yaml, which nobody wrote by hand. An experiment without a
 * file has nothing to copy. */
static bool read_source(const char *dir, const struct experiment *e, const char *from,
                        struct written_file *s, struct error *err)
{
    struct stat st;
    bool is_file = from && stat(from, &st) == 0 && S_ISREG(st.st_mode);
    const struct file_path path = path_in(dir, s->name);
    s->kept = file_exists(path.text) && (e->made_with || (from && !is_file));
    return !(s->kept || is_file) ||
           file_read(s->kept ? path.text : from, 0, &s->text, &s->n, err) == PEAT_OK;
}

static bool read_sources(const char *dir, const struct plan *p, struct sources *s, struct arena *a,
                         struct error *err)
{
    const struct experiment *e = p->experiment;
    *s = (struct sources){.experiment = {EXPERIMENT_FILE}, .extends = {EXTENDS_FILE}};
    strbuf_init(&s->resolved);
    if (e->root)
        resolved_text(p, a, &s->resolved);
    return read_source(dir, e, e->path, &s->experiment, err) &&
           read_source(dir, e, e->extends, &s->extends, err);
}

static void put_source(struct json files, const char *name, const char *text, size_t n)
{
    char hex[HASH_HEX];
    if (!text || (!n && strcmp(name, RESOLVED_FILE) == 0))
        return;
    hash_bytes(text, n, hex);
    json_put_text(files, name, hex);
}

static void put_sources(struct json plan, const struct sources *s)
{
    struct json files = json_put_map(plan, "files");
    put_source(files, EXPERIMENT_FILE, s->experiment.text, s->experiment.n);
    put_source(files, EXTENDS_FILE, s->extends.text, s->extends.n);
    put_source(files, RESOLVED_FILE, s->resolved.text, s->resolved.n);
}

static bool write_source(const char *dir, const struct value *plan, const struct written_file *s,
                         struct error *err)
{
    bool is_new = s->text && !s->kept && rundir_source(dir, plan, s->name) != SOURCE_SAME;
    return !is_new || file_write_own(path_in(dir, s->name).text, s->text, s->n, err) == PEAT_OK;
}

static bool write_sources(const char *dir, const struct value *plan, const struct sources *s,
                          struct error *err)
{
    return write_source(dir, plan, &s->experiment, err) &&
           write_source(dir, plan, &s->extends, err) &&
           (!s->resolved.n || file_write_own(path_in(dir, RESOLVED_FILE).text, s->resolved.text,
                                             s->resolved.n, err) == PEAT_OK);
}

/* plan.json is written first: it makes the directory this experiment's. */
static bool write_plan(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    struct sources s;
    char hex[HASH_HEX];
    const struct value *claims = p->experiment->claims;
    struct json plan = {a, plan_value(p, a)};
    bool ok = read_sources(dir, p, &s, a, err);
    put_sources(plan, &s);
    if (claims && claims->n) {
        json_hash(claims, hex);
        json_put_text(plan, "claims_sha256", hex);
    }
    ok = ok && json_write_file(dir, "plan.json", plan.v, err) == PEAT_OK &&
         write_sources(dir, plan.v, &s, err);
    free(s.experiment.text);
    free(s.extends.text);
    strbuf_release(&s.resolved);
    return ok;
}

static bool write_cell(const char *dir, const struct plan *p, const struct plan_cell *c,
                       struct arena *a, struct error *err)
{
    struct arena_mark mark = arena_mark(a);
    const char *cell = arena_printf(a, "%s/cells/%s", dir, c->id);
    bool ok = dir_make(cell, err) == PEAT_OK;
    dir_tidy(cell);
    ok = ok && json_write_file(cell, "config.json", plan_cell_value(p, c, a), err) == PEAT_OK;
    arena_rewind(a, mark);
    return ok;
}

peat_status rundir_write(const char *dir, const struct plan *p, struct arena *a, struct error *err)
{
    bool ok = rundir_check(dir, p, a, err) == PEAT_OK && dir_make(dir, err) == PEAT_OK &&
              write_plan(dir, p, a, err) && claims_keep(dir, p, a, err) == PEAT_OK;
    for (int i = 0; ok && i < p->n; i++)
        ok = write_cell(dir, p, &p->cell[i], a, err);
    return ok ? PEAT_OK : err->status;
}
