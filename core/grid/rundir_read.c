/* SPDX-License-Identifier: MIT */
/* rundir_read.c: reads a run directory from its files. */
#include <sys/file.h>

#include "grid/best.h"
#include "grid/lookfile.h"
#include "tensor/gemm.h"

/* ---- one cell ---- */

/* Checking takes the lock for an instant. A link is not followed, because the lock behind it
 * belongs to another directory. */
bool lock_is_held(const char *dir)
{
    int fd;
    peat_status status = file_open(path_in(dir, "lock").text, O_RDONLY, FILE_OWN, &fd, NULL);
    if (status != PEAT_OK)
        return false;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

/* A process writes running.json after it has the lock. Without that file the lock is not touched,
 * so that a check cannot hinder a process that is just starting. */
bool cell_is_running(const char *dir)
{
    return dir_has(dir, "running.json") && lock_is_held(dir);
}

const char *process_in(const char *dir, const char *name, struct arena *a)
{
    int64_t pid;
    const char *host;
    return process_read(dir, name, a, &pid, &host)
               ? arena_printf(a, "process %" PRId64 " on host %s", pid, host)
               : "another process";
}

static bool was_started(const char *dir)
{
    static const char *const trace[] = {"log.txt",   "metrics.jsonl", "running.json",
                                        "meta.json", "result.json",   "ckpt"};
    for (size_t i = 0; i < sizeof(trace) / sizeof(*trace); i++)
        if (dir_has(dir, trace[i]))
            return true;
    return false;
}

/* "interrupted" and unknown states are partial. */
static enum cell_state end_state(const struct value *end)
{
    const char *name = json_get_text(end, "state");
    for (int s = CELL_FAILED; name && s <= CELL_OOM; s++)
        if (!strcmp(name, cell_state_name((enum cell_state)s)))
            return (enum cell_state)s;
    return CELL_PARTIAL;
}

/* Why the result is damaged; NULL: it is a result of this cell. */
static const char *result_fault(const struct cell_files *c)
{
    if (!json_text_is(c->result, "state", "done") && !json_text_is(c->result, "state", "diverged"))
        return "it has no end state";
    const char *hash = json_get_text(c->result, "hash");
    if (c->config && !json_text_is(c->config, "hash", hash))
        return "it belongs to another cell";
    return c->hash && strcmp(c->hash, hash) != 0 ? "it belongs to another cell than the plan's"
                                                 : NULL;
}

static void note(struct cell_files *c, struct arena *a, const char *damage)
{
    if (!c->damage)
        c->damage = arena_strdup(a, damage);
}

/* A cell while it is read. */
struct reading {
    struct cell_files *c;
    struct arena *a;
    struct error err; /* memory ran out, or a newer program wrote a file: no file of the directory
                       * can be used, and none is read after it */
};

/* NULL when the file is missing or cannot be used. */
static struct value *read_file(struct reading *x, const struct record *r)
{
    struct cell_files *c = x->c;
    struct error why = {0};
    struct value *v = NULL;
    if (x->err.status != PEAT_OK)
        return NULL;
    peat_status status = record_read(c->dir, r, x->a, &v, &why);
    if (r == &stale_record) /* a damaged stale.json marks it as stale too */
        c->marked_stale = status == PEAT_OK || status == PEAT_CORRUPT;
    if (status == PEAT_NOMEM || status == PEAT_MISMATCH)
        x->err = why;
    else if (status != PEAT_OK && status != PEAT_NOTFOUND && !c->marked_stale)
        note(c, x->a, why.text);
    return v;
}

static void check_result(struct cell_files *c, struct arena *a)
{
    const char *fault = c->result ? result_fault(c) : NULL;
    if (!fault)
        return;
    note(c, a, arena_printf(a, "'%s/result.json' is damaged: %s", c->dir, fault));
    c->result = NULL;
}

static void check_files(struct cell_files *c, struct arena *a)
{
    const char *fault = c->config ? cell_files_fault(c->dir, c->result, c->meta, LOOK_READ, a)
                                  : "config.json is missing";
    if (fault)
        note(c, a, arena_printf(a, "'%s' is damaged: %s", c->dir, fault));
}

static enum cell_state state_of(const struct cell_files *c)
{
    if (c->damage && dir_has(c->dir, "result.json"))
        return CELL_DAMAGED;
    if (c->result && c->marked_stale)
        return CELL_STALE;
    if (c->result)
        return json_text_is(c->result, "state", "done") ? CELL_DONE : CELL_DIVERGED;
    if (c->end)
        return end_state(c->end);
    return was_started(c->dir) ? CELL_PARTIAL : CELL_TODO;
}

static void read_files(struct reading *x)
{
    struct cell_files *c = x->c;
    bool runs = cell_is_running(c->dir);
    c->config = read_file(x, &config_record);
    c->result = read_file(x, &result_record);
    check_result(c, x->a);
    c->meta = read_file(x, &meta_record);
    if (c->result)
        read_file(x, &stale_record);
    else
        c->end = read_file(x, &end_record);
    if (c->result && !runs)
        check_files(c, x->a);
    c->state = runs ? CELL_RUNNING : state_of(c);
}

/* A cell that looks damaged is read again, because a process may just have replaced its files. */
static peat_status rundir_read_cell_files(struct cell_files *c, struct arena *a, struct error *err)
{
    struct reading x = {.c = c, .a = a};
    const struct cell_files empty = *c;
    read_files(&x);
    if (c->damage) {
        *c = empty;
        read_files(&x);
    }
    if (!c->label)
        c->label = json_text_or(c->config, "label", c->id);
    return x.err.status == PEAT_OK ? PEAT_OK : error_set(err, x.err.status, "%s", x.err.text);
}

peat_status rundir_read_cell(const char *path, const char *id, struct cell_files *c,
                             struct arena *a, struct error *err)
{
    *c = (struct cell_files){
        .id = arena_strdup(a, id),
        .dir = arena_printf(a, "%s/cells/%s", path, id),
    };
    if (!cell_is_id(id) || !dir_has(c->dir, "config.json"))
        return error_set(err, PEAT_NOTFOUND, "'%s' has no cell '%s'", path, id);
    return rundir_read_cell_files(c, a, err);
}

/* ---- all cells ---- */

/* planned: its entry in plan.json; NULL: not planned. */
static void rundir_add_cell(struct rundir *r, const char *id, const struct value *planned,
                            struct arena *a)
{
    struct cell_files *c = &r->cell[r->n++];
    *c = (struct cell_files){
        .id = arena_strdup(a, id),
        .dir = arena_printf(a, "%s/cells/%s", r->path, id),
        .label = json_get_text(planned, "label"),
        .hash = json_get_text(planned, "hash"),
        .planned = planned != NULL,
    };
}

/* The names are sorted. */
static void list_cells(struct rundir *r, const struct value *cells, int n_name, char **name,
                       struct arena *a)
{
    r->cell = ARENA_ARRAY(a, cells->n + n_name + 1, struct cell_files);
    bool *planned = ARENA_ARRAY(a, n_name + 1, bool);
    for (int i = 0; i < cells->n; i++)
        rundir_add_cell(r, json_get_text(cells->item[i], "id"), cells->item[i], a);
    for (int i = 0; i < r->n && n_name; i++) {
        char **found = bsearch(&r->cell[i].id, name, (size_t)n_name, sizeof(*name), compare_texts);
        if (found)
            planned[found - name] = true;
    }
    for (int i = 0; i < n_name; i++)
        if (!planned[i])
            rundir_add_cell(r, name[i], NULL, a);
}

peat_status rundir_read(const char *path, struct rundir *r, struct arena *a, struct error *err)
{
    char **name;
    int n;
    struct error why = {0};
    *r = (struct rundir){.path = arena_strdup(a, path)};
    peat_status status = plan_read(path, &r->plan, a, err);
    if (status == PEAT_NOTFOUND)
        return error_set(err, status, "'%s' is not a run directory: it has no plan.json", path);
    if (status != PEAT_OK)
        return status;
    status = dir_list(path_in(path, "cells").text, &name, &n, &why);
    if (status != PEAT_OK && status != PEAT_NOTFOUND)
        return error_set(err, status, "%s", why.text);
    list_cells(r, value_get(r->plan, "cells"), n, name, a);
    names_free(name, n);
    for (int i = 0; i < r->n; i++) {
        status = rundir_read_cell_files(&r->cell[i], a, err);
        if (status != PEAT_OK)
            return status;
    }
    status = rundir_choose(r, r->plan, a, err);
    return status == PEAT_OK ? looks_mark(r, a, err) : status;
}

/* ---- best_over ---- */

static enum cell_state waiting_state(enum best_role role)
{
    if (role == BEST_WAITS)
        return CELL_WAITING;
    return role == BEST_UNCHOSEN ? CELL_UNCHOSEN : CELL_TODO;
}

peat_status rundir_choose(struct rundir *r, const struct value *plan, struct arena *a,
                          struct error *err)
{
    const struct value *cells = value_get(plan, "cells");
    struct best *best = ARENA_NEW(a, struct best);
    peat_status status = best_open(best, plan, cells->n, a, err);
    r->best = NULL;
    if (status != PEAT_OK)
        error_prefix(err, "'%s/plan.json'", r->path);
    if (status != PEAT_OK || best->over.n_axis == 0)
        return status;
    for (int i = 0; i < cells->n; i++)
        if (r->cell[i].state == CELL_WAITING || r->cell[i].state == CELL_UNCHOSEN)
            r->cell[i].state = CELL_TODO;
    for (int i = 0; i < cells->n; i++)
        best_add(best, cells->item[i], r->cell[i].state, r->cell[i].result, a);
    best_choose(best, value_get(plan, "report"), a);
    for (int i = 0; i < cells->n; i++)
        if (r->cell[i].state == CELL_TODO)
            r->cell[i].state = waiting_state(best->cell[i].role);
    r->best = best;
    return PEAT_OK;
}

/* ---- finding a cell ---- */

static bool hash_starts(const struct cell_files *c, const char *prefix)
{
    const char *hash = json_get_text(c->config, "hash");
    const char *dash = strrchr(c->id, '-');
    size_t n = strlen(prefix);
    return (hash && !strncmp(hash, prefix, n)) || (!hash && dash && !strncmp(dash + 1, prefix, n));
}

const struct cell_files *rundir_cell(const struct rundir *r, const char *id)
{
    for (int i = 0; i < r->n; i++)
        if (strcmp(r->cell[i].id, id) == 0)
            return &r->cell[i];
    return NULL;
}

/* The ways in which a word may name a cell, strictest first. */
enum way { BY_ID, BY_LABEL, BY_HASH, WAYS };

static bool is_named(const struct cell_files *c, const char *word, enum way way)
{
    return way == BY_ID      ? strcmp(c->id, word) == 0
           : way == BY_LABEL ? cell_is_called(c->label, c->id, word)
                             : hash_starts(c, word);
}

/* Cells of the plan are preferred to leftovers. *index is -1 when no cell matches; several matches
 * are an error. */
static peat_status find_one(const struct rundir *r, const char *cell, enum way way, int *index,
                            struct error *err)
{
    *index = -1;
    for (int i = 0; i < r->n; i++) {
        if (!is_named(&r->cell[i], cell, way))
            continue;
        if (*index >= 0 && r->cell[*index].planned && !r->cell[i].planned)
            continue;
        if (*index >= 0)
            return error_set(err, PEAT_INVALID, "'%s' is more than one cell: '%s' and '%s'", cell,
                             r->cell[*index].id, r->cell[i].id);
        *index = i;
    }
    return PEAT_OK;
}

static peat_status not_found(const struct rundir *r, const char *cell, struct error *err)
{
    const char **label = mem_array((size_t)r->n, sizeof(*label), "labels");
    for (int i = 0; i < r->n; i++)
        label[i] = r->cell[i].label;
    error_set(err, PEAT_NOTFOUND, "'%s' has no cell '%s'", r->path, cell);
    error_add_nearest(err, cell, label, r->n);
    free(label);
    return PEAT_NOTFOUND;
}

peat_status rundir_find(const struct rundir *r, const char *cell, int *index, struct error *err)
{
    char *end;
    errno = 0;
    long number = strtol(cell, &end, 10);
    if (*cell >= '0' && *cell <= '9' && !*end && !errno && number < r->n) {
        *index = (int)number;
        return PEAT_OK;
    }
    peat_status status = PEAT_OK;
    *index = -1;
    for (enum way way = 0; way < WAYS && status == PEAT_OK && *index < 0 && *cell; way++)
        status = find_one(r, cell, way, index, err);
    return status == PEAT_OK && *index < 0 ? not_found(r, cell, err) : status;
}

/* ---- drift ---- */

const char *cell_gemm(const struct cell_files *c)
{
    struct error missing = {0};
    const char *then = json_get_text(c->meta, "gemm");
    return then && gemm_check(then, &missing) == PEAT_OK ? then : "auto";
}

const char *cell_drift(const struct value *result, struct arena *a)
{
    const char *text = NULL;
    const struct value *d;
    for (int i = 0; (d = json_get_item(result, "drift", i)); i++)
        text = list_add(a, text, "; ",
                        arena_printf(a, "step %" PRId64 ": %s was '%s' and is '%s'",
                                     json_get_int(d, "step", 0), json_text_or(d, "key", "unknown"),
                                     json_text_or(d, "from", "unknown"),
                                     json_text_or(d, "to", "unknown")));
    return text;
}
