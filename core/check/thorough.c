/* SPDX-License-Identifier: MIT */
/* thorough.c: drawn cases are tried in other processes, and one that fails is made smaller. */
#include "check/thorough.h"

#include "cases.h"

/* A process tries cases for SECONDS_EACH. TRIES and SECONDS_SMALLER limit shrinking one. */
enum { SECONDS_EACH = 20, TRIES = 200, SECONDS_SMALLER = 30 };

/* A case that fails. */
struct found {
    struct check_case c;
    struct cases_end drawn; /* settings drawn for the plugin's parameters */
    struct check_report report;
};

struct search {
    struct thorough *t;
    const struct check_request *q;
    struct arena *a;
    struct error *err; /* the first error of a process, after which no process is started */
    int tries;
    double until;
};

static bool is_well(const struct search *s)
{
    return s->err->status == PEAT_OK;
}

/* ---- asking a process ---- */

/* The user's settings and then those that were drawn; f NULL: no drawn ones. */
static int all_settings(const struct search *s, const struct found *f, char *const **setting)
{
    int n = s->q->n_setting, drawn = f ? f->drawn.n_setting : 0;
    char **all = ARENA_ARRAY(s->a, n + drawn + 1, char *);
    for (int i = 0; i < n; i++)
        all[i] = s->q->setting[i];
    for (int i = 0; i < drawn; i++)
        all[n + i] = arena_strdup(s->a, f->drawn.setting[i]);
    *setting = all;
    return n + drawn;
}

static struct check_report ask(struct search *s, const char *cases, const struct found *f)
{
    struct check_request q = *s->q;
    struct check_report report = {.text = ""};
    q.n_setting = all_settings(s, f, &q.setting);
    q.cases = cases;
    if (is_well(s))
        check_apart(&q, check_cases.name, s->a, &report, s->err);
    return report;
}

/* ---- making it smaller ---- */

/* True when the candidate fails too; it then becomes the best one. */
static bool try(struct search *s, struct found *candidate, struct found *best)
{
    if (s->tries++ >= TRIES || clock_seconds() > s->until)
        return false;
    candidate->report = ask(s, case_text(&candidate->c, s->a), candidate);
    if (!is_well(s) || !check_is_bad(candidate->report.end))
        return false;
    *best = *candidate;
    return true;
}

static bool drop_settings(struct search *s, struct found *best)
{
    bool any = false;
    for (int i = 0; i < best->drawn.n_setting;) {
        struct found f = *best;
        const char **dropped = &f.drawn.setting[i];
        f.drawn.n_setting--;
        memmove(dropped, dropped + 1, (size_t)(f.drawn.n_setting - i) * sizeof(*dropped));
        bool better = try(s, &f, best);
        any = any || better;
        i += !better;
    }
    return any;
}

static bool shrink_numbers(struct search *s, struct found *best)
{
    bool any = false;
    struct found f = *best;
    for (int k = 0; case_smaller(&best->c, k, &f.c); k++)
        if (memcmp(&f.c, &best->c, sizeof(f.c)) != 0)
            any = try(s, &f, best) || any;
    return any;
}

/* A case that does not end is left as it is: each try would take as long. */
static void make_smaller(struct search *s, struct found *best)
{
    bool any = best->report.end != CHECK_TIMEOUT;
    s->until = clock_seconds() + SECONDS_SMALLER;
    while (any) {
        any = drop_settings(s, best);
        any = shrink_numbers(s, best) || any;
    }
}

/* ---- finding one ---- */

/* Makes the failed case smaller, unless it fails only after other cases. */
static void look_at_case(struct search *s, const struct check_report *many)
{
    struct thorough *t = s->t;
    struct found f = {.report = *many};
    const char *at = arena_printf(s->a, "at %" PRIu64 " %" PRId64, t->seed, t->index);
    const struct check_report described = ask(s, at, NULL);
    if (!is_well(s) || !described.cases.text ||
        case_parse(&f.c, described.cases.text, s->err) != PEAT_OK)
        return;
    f.drawn = described.cases;
    struct found alone = f;
    s->until = clock_seconds() + SECONDS_SMALLER;
    if (many->end != CHECK_TIMEOUT && try(s, &alone, &f))
        make_smaller(s, &f);
    t->report = f.report;
    t->text = case_text(&f.c, s->a);
    t->n_setting = all_settings(s, &f, &t->setting);
}

/* One of t->jobs processes. Each process tries every t->jobs-th case. */
struct job {
    int64_t next; /* the case that it would try next, or that failed */
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
    j->running.q.cases = arena_printf(s->a, "from %" PRIu64 " %" PRId64 " %d %" PRId64 " %g",
                                      s->t->seed, j->next, s->t->jobs, end, seconds);
    j->runs = check_start(&j->running, s->a, s->err);
}

static void finish_job(struct search *s, struct job *j)
{
    if (!j->runs)
        return;
    check_finish(&j->running, s->a, &j->report);
    s->t->tried += j->report.cases.tried;
    s->t->refused += j->report.cases.refused;
    j->next = j->report.cases.index;
}

/* Tries cases before `end` for so many seconds. Returns the first that fails, or `end`. */
static int64_t run_jobs(struct search *s, struct job *job, double seconds, int64_t end)
{
    struct stops_held held;
    stops_hold(&held);
    for (int i = 0; i < s->t->jobs; i++)
        start_job(s, &job[i], seconds, end);
    for (int i = 0; i < s->t->jobs; i++) {
        finish_job(s, &job[i]);
        if (job[i].runs && check_is_bad(job[i].report.end) && job[i].next < end) {
            end = job[i].next;
            s->t->report = job[i].report;
        }
    }
    stops_let(&held);
    return end;
}

static bool any_before(const struct job *job, int n, int64_t end)
{
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || job[i].next < end;
    return any;
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
    t->index = INT64_MAX; /* lowered to a failed case; the cases before it are still tried */
    while (is_well(&s) && any_before(job, t->jobs, t->index) &&
           (left > 0 || t->index < INT64_MAX)) {
        double seconds = left > 0 && left < SECONDS_EACH ? left : SECONDS_EACH;
        t->index = run_jobs(&s, job, seconds, t->index);
        left = until - clock_seconds();
    }
    if (is_well(&s) && check_is_bad(t->report.end))
        look_at_case(&s, &t->report);
    return is_well(&s);
}
