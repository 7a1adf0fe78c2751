/* SPDX-License-Identifier: MIT */
/*
 * test_calls.c: every call that can fail is made to fail, at every place where it is made.
 *
 * A grid of two cells is run with the N-th call of a kind failing, for N from 1 until no call
 * fails; in the process of a cell, in that of the parent, and in programs that only read. After
 * each fault: the program has ended in time with one of its exit codes; `peat results` shows
 * nothing that the uninterrupted run did not have; a file that could not be made safe is an error;
 * running again without the fault ends in the
 * bytes of the uninterrupted run and leaves no temporary file. The short form takes a sample.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "fault/faultkit.h"

static const char experiment[] = "version: 1\n"
                                 "name: micro\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 4, batch: 2, seq_len: 8}\n"
                                 "  eval: {every: 2, lengths: [8], tokens: 16}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "seeds: 1\n"
                                 "run: {checkpoint: {every: 1}}\n";

enum { WORKERS = 2, LAST_N = 100000 };

/* What a fault is done to. */
enum program { CELL, RUN, RESULTS, STATUS, REPORT, PROGRAMS };

struct campaign {
    enum program program;
    const char *kind, *what, *mode;
    int every;      /* of the N in the long form: 1 is all of them */
    int short_form; /* so many in the short form, 0: none */
};

#define ERRNO_TEXT_(x) #x
#define ERRNO_TEXT(x)  ERRNO_TEXT_(x)
#define E_IO           ERRNO_TEXT(EIO)
#define E_NOSPC        ERRNO_TEXT(ENOSPC)
#define E_DQUOT        ERRNO_TEXT(EDQUOT)
#define E_FBIG         ERRNO_TEXT(EFBIG)
#define E_MFILE        ERRNO_TEXT(EMFILE)
#define E_ACCES        ERRNO_TEXT(EACCES)
#define E_INTR         ERRNO_TEXT(EINTR)
#define E_AGAIN        ERRNO_TEXT(EAGAIN)
#define E_NOMEM        ERRNO_TEXT(ENOMEM)

static const struct campaign campaigns[] = {
    /* a cell's process */
    {CELL, "file", "kill", "once", 1, 16},
    {CELL, "write", E_NOSPC, "once", 1, 6},
    {CELL, "write", E_NOSPC, "on", 1, 6},
    {CELL, "write", E_IO, "once", 1, 4},
    {CELL, "write", E_DQUOT, "on", 1, 4},
    {CELL, "write", E_FBIG, "once", 1, 0},
    {CELL, "write", "short", "once", 1, 4},
    {CELL, "write", "short", "on", 8, 2},
    {CELL, "write", E_INTR, "once", 1, 4},
    {CELL, "fsync", E_IO, "once", 1, 6},
    {CELL, "fsync", E_NOSPC, "on", 1, 4},
    {CELL, "rename", E_IO, "once", 1, 6},
    {CELL, "rename", E_NOSPC, "on", 1, 4},
    {CELL, "rename", E_ACCES, "once", 1, 0},
    {CELL, "open", E_MFILE, "once", 1, 8},
    {CELL, "open", E_MFILE, "on", 1, 6},
    {CELL, "open", E_NOSPC, "once", 1, 0},
    {CELL, "open", E_ACCES, "once", 1, 0},
    {CELL, "open", E_INTR, "once", 2, 0},
    {CELL, "mkdir", E_NOSPC, "once", 1, 4},
    {CELL, "mkdir", E_ACCES, "on", 1, 2},
    {CELL, "close", E_IO, "once", 1, 6},
    {CELL, "close", E_IO, "on", 4, 2},
    {CELL, "unlink", E_IO, "once", 1, 6},
    {CELL, "unlink", E_IO, "on", 1, 2},
    {CELL, "read", E_IO, "once", 1, 6},
    {CELL, "read", E_INTR, "once", 1, 4},
    {CELL, "alloc", E_NOMEM, "once", 53, 16},
    {CELL, "alloc", E_NOMEM, "on", 89, 8},
    /* the parent's */
    {RUN, "file", "kill", "once", 1, 8},
    {RUN, "write", E_NOSPC, "once", 1, 4},
    {RUN, "write", E_NOSPC, "on", 1, 4},
    {RUN, "write", E_IO, "once", 1, 0},
    {RUN, "write", "short", "once", 1, 4},
    {RUN, "fsync", E_IO, "once", 1, 4},
    {RUN, "fsync", E_IO, "on", 1, 0},
    {RUN, "rename", E_IO, "once", 1, 4},
    {RUN, "rename", E_NOSPC, "on", 1, 0},
    {RUN, "open", E_MFILE, "once", 2, 6},
    {RUN, "open", E_MFILE, "on", 2, 4},
    {RUN, "mkdir", E_NOSPC, "once", 1, 4},
    {RUN, "mkdir", E_ACCES, "on", 1, 2},
    {RUN, "truncate", E_IO, "once", 1, 1},
    {RUN, "close", E_IO, "once", 2, 4},
    {RUN, "unlink", E_IO, "once", 1, 2},
    {RUN, "spawn", E_AGAIN, "once", 1, 2},
    {RUN, "spawn", E_NOMEM, "on", 1, 2},
    {RUN, "read", E_IO, "once", 2, 4},
    {RUN, "alloc", E_NOMEM, "once", 97, 8},
    {RUN, "alloc", E_NOMEM, "on", 149, 4},
    /* programs that read */
    {RESULTS, "open", E_MFILE, "once", 1, 4},
    {RESULTS, "open", E_IO, "on", 1, 4},
    {RESULTS, "read", E_IO, "once", 1, 6},
    {RESULTS, "alloc", E_NOMEM, "once", 13, 16},
    {RESULTS, "alloc", E_NOMEM, "on", 17, 8},
    {STATUS, "open", E_IO, "once", 1, 4},
    {STATUS, "read", E_IO, "once", 1, 4},
    {STATUS, "alloc", E_NOMEM, "once", 13, 8},
    {REPORT, "open", E_IO, "once", 2, 4},
    {REPORT, "write", E_NOSPC, "once", 1, 1},
    {REPORT, "rename", E_IO, "once", 1, 1},
    {REPORT, "alloc", E_NOMEM, "once", 41, 6},
};

/* The grid without any fault. */
struct reference {
    char *cell;                /* the first one's id */
    char *fingerprint, *first; /* of both cells, and of the first alone */
    struct strbuf csv, table[PROGRAMS];
};

struct counts {
    atomic_long faults, killed;
    atomic_int next; /* campaign */
};

static const char *const verb_of[PROGRAMS] = {"cell", "run", "results", "status", "results"};

static void format_words(enum program p, int slot, const char *cell, struct strbuf *words)
{
    strbuf_clear(words);
    if (p == CELL)
        strbuf_addf(words, "cell run%d %s --checkpoint-every 1", slot, cell);
    else if (p == RUN)
        strbuf_addf(words, "run micro.yaml -o run%d --retry-failed", slot);
    else if (p == REPORT)
        strbuf_addf(words, "results done --format json -o page%d.html", slot);
    else
        strbuf_addf(words, "%s done", verb_of[p]);
}

/* ---- the reference ---- */

static void must_run(const struct rig *s, const char *words, struct ran *r)
{
    run_peat(s, 0, NULL, words, r);
    if (r->status == 0)
        return;
    fprintf(stderr, "'peat %s' ends with %d\n%s", words, r->status, r->err.text);
    exit(EXIT_FAILURE);
}

/* Only what a plan writes. */
static void strip(const char *run)
{
    char *cells = path_join(run, "cells"), **name = NULL;
    int n = 0;
    dir_list(cells, &name, &n, NULL);
    for (int i = 0; i < n; i++) {
        static const char *const made[] = {"result.json", "meta.json", "metrics.jsonl",
                                           "log.txt",     "lock",      "ckpt"};
        char *cell = path_join(cells, name[i]);
        for (size_t k = 0; k < sizeof(made) / sizeof(*made); k++) {
            char *path = path_join(cell, made[k]);
            dir_remove(path, NULL);
            free(path);
        }
        free(cell);
    }
    names_free(name, n);
    free(cells);
}

static char *first_cell(const struct rig *s)
{
    char *cells = rig_path(s, "done/cells"), **name = NULL, *first = NULL;
    int n = 0;
    dir_list(cells, &name, &n, NULL);
    if (n == 2)
        first = strdup(name[0]);
    names_free(name, n);
    free(cells);
    return first;
}

static void make_reference(const struct rig *s, struct reference *f)
{
    struct ran r;
    rig_write_text(s, 200, -1);
    rig_write(s, "micro.yaml", experiment);
    must_run(s, "run micro.yaml -o done", &r);
    ran_release(&r);
    f->cell = first_cell(s);
    f->fingerprint = grid_fingerprint(s, "done");
    must_run(s, "results done --format csv", &r);
    strbuf_init(&f->csv);
    strbuf_add(&f->csv, r.out.text);
    ran_release(&r);
    for (enum program p = RESULTS; p < PROGRAMS; p++) {
        struct strbuf words;
        strbuf_init(&words);
        format_words(p, 0, "", &words);
        must_run(s, words.text, &r);
        strbuf_release(&words);
        strbuf_init(&f->table[p]);
        strbuf_add(&f->table[p], r.out.text);
        ran_release(&r);
    }
    char *done = rig_path(s, "done"), *plan = rig_path(s, "plan"), *alone = rig_path(s, "alone");
    copy_tree(done, plan);
    strip(plan);
    copy_tree(plan, alone);
    struct strbuf words;
    strbuf_init(&words);
    strbuf_addf(&words, "cell alone %s --checkpoint-every 1", f->cell);
    must_run(s, words.text, &r);
    ran_release(&r);
    f->first = grid_fingerprint(s, "alone");
    strbuf_release(&words);
    free(done);
    free(plan);
    free(alone);
}

static void free_reference(struct reference *f)
{
    free(f->cell);
    free(f->fingerprint);
    free(f->first);
    strbuf_release(&f->csv);
    for (enum program p = RESULTS; p < PROGRAMS; p++)
        strbuf_release(&f->table[p]);
}

/* ---- one fault ---- */

/* A place for one fault: a run directory as the plan leaves it, or none yet. */
static void make_place(const struct rig *s, enum program p, int slot)
{
    char *run = rig_path(s, "run%d", slot), *plan = rig_path(s, "plan");
    dir_remove(run, NULL);
    if (p == CELL)
        copy_tree(plan, run);
    free(run);
    free(plan);
}

static void check_writer(const struct rig *s, const struct reference *f, enum program p, int slot,
                         const char *what)
{
    struct ran r;
    struct strbuf words;
    char run[16];
    strbuf_init(&words);
    snprintf(run, sizeof(run), "run%d", slot);
    char *dir = rig_path(s, "%s/plan.json", run);
    if (file_exists(dir))
        expect_table_within(s, slot, run, f->csv.text, what);
    free(dir);
    format_words(p, slot, f->cell, &words);
    run_peat(s, slot, NULL, words.text, &r);
    expect(r.status == 0, "%s: running again ends with %d: %s", what, r.status, r.err.text);
    char *now = grid_fingerprint(s, run);
    expect(strcmp(now, p == CELL ? f->first : f->fingerprint) == 0,
           "%s: running again ends in other bytes", what);
    expect_no_leftovers(s, run, what);
    free(now);
    ran_release(&r);
    strbuf_release(&words);
}

/* A reader that says nothing of a fault, below its table or beside it, shows all there is. */
static void check_reader(const struct reference *f, enum program p, const struct ran *r,
                         const char *what)
{
    if (r->status == 0)
        expect(r->err.n > 0 || strstr(r->out.text, "cannot ") ||
                   strcmp(r->out.text, f->table[p].text) == 0,
               "%s: another output, and no word about it:\n%s", what, r->out.text);
    else
        expect(r->err.n > 0, "%s: it ends with %d without a word", what, r->status);
}

/* False: the fault did not happen, there are no more such calls. */
static bool one_fault(const struct rig *s, const struct reference *f, struct counts *counts,
                      const struct campaign *c, int n, int slot)
{
    struct ran r;
    struct strbuf words, fault, what;
    bool killed = strcmp(c->what, "kill") == 0;
    strbuf_init(&words);
    strbuf_init(&fault);
    strbuf_init(&what);
    format_words(c->program, slot, f->cell, &words);
    strbuf_addf(&fault, "%s:%s:%d:%s:%s", c->kind, c->what, n, c->mode, verb_of[c->program]);
    strbuf_addf(&what, "%s", fault.text);
    make_place(s, c->program, slot);
    run_peat(s, slot, fault.text, words.text, &r);
    bool fired = has_fired(s, slot);
    expect(is_good_end(&r, killed && fired), "%s: it ends with %d: %s", what.text, r.status,
           r.err.text);
    expect(fired || r.status == 0, "%s: without a fault it ends with %d", what.text, r.status);
    expect(!fired || r.status != 0 || strcmp(c->kind, "fsync") != 0,
           "%s: a file that may be lost, and no word about it", what.text);
    if (fired && c->program <= RUN)
        check_writer(s, f, c->program, slot, what.text);
    else if (fired)
        check_reader(f, c->program, &r, what.text);
    if (fired) {
        atomic_fetch_add(&counts->faults, 1);
        atomic_fetch_add(&counts->killed, r.status >= 1000);
    }
    ran_release(&r);
    strbuf_release(&words);
    strbuf_release(&fault);
    strbuf_release(&what);
    return fired;
}

/* ---- campaigns ---- */

/* In the short form few places, drawn; beyond the last one there is nothing to see. */
static void short_campaign(const struct rig *s, const struct reference *f, struct counts *counts,
                           const struct campaign *c, int slot, unsigned long long *state)
{
    int reach = !strcmp(c->kind, "alloc") ? 400 : 12;
    for (int i = 0; i < c->short_form; i++) {
        int n = 1 + (int)(draw(state) % (unsigned)reach);
        while (!one_fault(s, f, counts, c, n, slot) && n > 1)
            n = (n + 1) / 2;
    }
}

static void long_campaign(const struct rig *s, const struct reference *f, struct counts *counts,
                          const struct campaign *c, int slot)
{
    int n = 1;
    while (n < LAST_N && one_fault(s, f, counts, c, n, slot))
        n += c->every;
    expect(n < LAST_N, "%s:%s never ends", c->kind, c->what);
}

static bool can_be_done(const struct campaign *c)
{
#ifdef PEAT_SANITIZED
    return strcmp(c->kind, "alloc") != 0; /* the sanitizer's allocator is not to be replaced */
#else
    (void)c;
    return true;
#endif
}

static void work(const struct rig *s, const struct reference *f, struct counts *counts, int slot)
{
    const int n = (int)(sizeof(campaigns) / sizeof(*campaigns));
    for (int i; (i = atomic_fetch_add(&counts->next, 1)) < n;) {
        unsigned long long state = s->seed + (unsigned long long)i;
        const struct campaign *c = &campaigns[i];
        long before = atomic_load(&counts->faults);
        if (!can_be_done(c))
            continue;
        if (s->is_long)
            long_campaign(s, f, counts, c, slot);
        else
            short_campaign(s, f, counts, c, slot, &state);
        if (getenv("PEAT_FAULT_VERBOSE"))
            fprintf(stderr, "%s %s %s %s: %ld\n", verb_of[c->program], c->kind, c->what, c->mode,
                    atomic_load(&counts->faults) - before);
    }
}

int main(int argc, char **argv)
{
    struct rig s;
    struct reference f;
    rig_open(&s, argc, argv);
    make_reference(&s, &f);
    struct counts *counts =
        mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int slot = 1; slot <= WORKERS; slot++) {
        if (fork() == 0) {
            work(&s, &f, counts, slot);
            _exit(0);
        }
    }
    for (int status; wait(&status) > 0;)
        expect(status == 0, "a worker ended with %d", status);
    long n = atomic_load(&counts->faults);
    printf("%ld faults: %ld by SIGKILL, %d expectations failed\n", n, atomic_load(&counts->killed),
           failures());
#ifdef PEAT_SANITIZED
    const int least = s.is_long ? 1000 : 100;
#else
    const int least = s.is_long ? 2000 : 150;
#endif
    expect(n >= least, "too few faults");
    free_reference(&f);
    return rig_close(&s);
}
