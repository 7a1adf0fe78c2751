/* SPDX-License-Identifier: MIT */
/* thorough.c: drawn cells are tried in other processes, and one that fails is made smaller. */
#include "check/thorough.h"

#include "experiment/resolved.h"
#include "experiment/yamldoc.h"

/* A process tries cells for SECONDS_EACH. TRIES and SECONDS_SMALLER limit making one smaller. */
enum { SECONDS_EACH = 20, TRIES = 200, SECONDS_SMALLER = 30 };

struct search {
    struct thorough *t;
    const struct check_request *q;
    struct arena *a;
    struct error *err; /* the first error of a process, after which no process is started */
};

static bool is_well(const struct search *s)
{
    return s->err->status == PEAT_OK;
}

/* ---- making it smaller ---- */

/* A copy of the tree with its k-th change, from *k = 0 on: a number that is halved or one less, or
 * an entry that is left out. *k stays 0 or more where there are not so many. */
static struct value *changed(struct arena *a, const struct value *v, int *k)
{
    if (v->kind != VALUE_MAP && v->kind != VALUE_LIST)
        return (struct value *)(uintptr_t)v;
    struct value *copy = v->kind == VALUE_MAP ? value_map(a, NOWHERE) : value_list(a, NOWHERE);
    for (int i = 0; i < v->n; i++) {
        struct value *item = v->item[i];
        int64_t x = item->kind == VALUE_INT ? item->integer : 0;
        bool half = x > 0 && (*k)-- == 0;
        if (half || (x > 0 && (*k)-- == 0))
            item = value_scalar(a, NOWHERE, arena_printf(a, "%" PRId64, half ? x / 2 : x - 1));
        else if (item->kind != VALUE_INT && (*k)-- == 0)
            continue;
        else if (*k >= 0)
            item = changed(a, item, k);
        if (v->kind == VALUE_MAP)
            value_set(a, copy, v->key[i], NOWHERE, item);
        else
            value_append(a, copy, item);
    }
    return copy;
}

/* True when the cell of the tree fails the same check; it is then the best one. One that cannot be
 * read fails without a cell. */
static bool try(struct search *s, const char *dir, const struct value *root,
                struct check_report *best)
{
    struct strbuf text = STRBUF_NEW;
    struct check_request q = *s->q;
    struct check_report report = {.text = ""};
    settings_add(&text, root, 0, s->a);
    q.cells = arena_printf(s->a, "%s/" CHECK_CELL, dir);
    q.sweep = NULL;
    if (file_write(q.cells, text.text, text.n, s->err) == PEAT_OK)
        check_apart(&q, best->cells.check, s->a, &report, s->err);
    bool bad =
        is_well(s) && check_is_bad(report.end) && (report.cells.text || report.end != CHECK_FAILED);
    report.check = best->check;
    report.cells = best->cells;
    report.cells.text = strbuf_keep(&text, s->a);
    if (bad)
        *best = report;
    return bad;
}

/* A cell that does not end is left as it is: each try would take as long. One that fails only after
 * other cells is too. */
static void make_smaller(struct search *s, struct check_report *best)
{
    double until = clock_seconds() + SECONDS_SMALLER;
    struct value *root;
    struct own_dir dir;
    const char *text = best->cells.text;
    if (!text || !best->cells.check || best->end == CHECK_TIMEOUT ||
        yaml_parse(s->a, text, strlen(text), "cell", &root, s->err) != PEAT_OK ||
        own_dir_open(&dir, "check", s->err) != PEAT_OK)
        return;
    bool any = try(s, dir.path, root, best);
    for (int tries = 0; any && is_well(s);) {
        any = false;
        for (int k = 0;; k++) {
            int at = k;
            struct value *one = changed(s->a, root, &at);
            if (at >= 0 || tries++ >= TRIES || clock_seconds() > until)
                break;
            if (try(s, dir.path, one, best)) {
                root = one;
                any = true;
                k--;
            }
        }
    }
    own_dir_close(&dir);
}

/* ---- finding one ---- */

/* One of t->jobs processes. Each process tries every t->jobs-th cell. */
struct job {
    int64_t next; /* the cell that it would try next, or that failed */
    bool runs;
    struct check_running running;
    struct check_report report;
};

static void start_job(struct search *s, struct job *j, double seconds, int64_t end)
{
    j->runs = false;
    if (!is_well(s) || j->next >= end)
        return;
    j->running = (struct check_running){.q = *s->q, .check = check_cases.name};
    j->running.q.timeout += seconds;
    j->running.q.sweep = arena_printf(s->a, "%" PRIu64 " %" PRId64 " %d %" PRId64 " %g", s->t->seed,
                                      j->next, s->t->jobs, end, seconds);
    j->runs = check_start(&j->running, s->a, s->err);
}

/* Tries cells before `end` for so many seconds. Returns the first that fails, or `end`. */
static int64_t run_jobs(struct search *s, struct job *job, double seconds, int64_t end)
{
    struct stops_held held;
    stops_hold(&held);
    for (int i = 0; i < s->t->jobs; i++)
        start_job(s, &job[i], seconds, end);
    for (struct job *j = job; j < job + s->t->jobs; j++) {
        if (!j->runs)
            continue;
        check_finish(&j->running, s->a, &j->report);
        s->t->tried += j->report.cells.tried;
        j->next = j->report.cells.index;
        if (check_is_bad(j->report.end) && j->next < end) {
            end = j->next;
            s->t->report = j->report;
        }
    }
    stops_let(&held);
    return end;
}

static bool any_before(const struct job *job, int n, int64_t end)
{
    while (n > 0 && job[n - 1].next >= end)
        n--;
    return n > 0;
}

bool thorough_run(struct thorough *t, const struct check_request *q, struct arena *a,
                  struct error *err)
{
    struct search s = {.t = t, .q = q, .a = a, .err = err};
    struct job *job = ARENA_ARRAY(a, t->jobs, struct job);
    double until = clock_seconds() + t->seconds, left = t->seconds;
    for (int i = 0; i < t->jobs; i++)
        job[i].next = i;
    t->report = (struct check_report){.check = check_cases.name, .text = ""};
    t->index = INT64_MAX; /* lowered to a failed cell; the cells before it are still tried */
    while (is_well(&s) && any_before(job, t->jobs, t->index) &&
           (left > 0 || t->index < INT64_MAX)) {
        double seconds = left > 0 && left < SECONDS_EACH ? left : SECONDS_EACH;
        t->index = run_jobs(&s, job, seconds, t->index);
        left = until - clock_seconds();
    }
    if (is_well(&s) && check_is_bad(t->report.end))
        make_smaller(&s, &t->report);
    return is_well(&s);
}
